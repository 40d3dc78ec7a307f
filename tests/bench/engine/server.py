"""The server that all contenders load: nginx, one process on one core, which answers every POST from memory."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ANSWER = '{\\n    \\"predictions\\": [[0.25, 0.75]]\\n}'
BODY = '{"instances": [{"input": [0.1, 0.2, 0.3, 0.4]}]}'
USERS = 20
"""Connections of every contender."""

PATH = "/v1/models/my_model:predict"
CONFIG = """
daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {folder}/body; keepalive_requests 1000000000; default_type application/json;
  proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ return 200 "{answer}"; }} }}
}}
"""


@contextmanager
def a_server(nginx: str, folder: Path, core: int) -> Iterator[str]:
    """Base URL of an nginx that runs on `core` alone until the context ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port, answer=ANSWER))
    process = subprocess.Popen([nginx, "-p", str(folder), "-c", str(config)], stderr=subprocess.DEVNULL)
    try:
        os.sched_setaffinity(process.pid, {core})
        _await(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _await(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("nginx did not come up")
