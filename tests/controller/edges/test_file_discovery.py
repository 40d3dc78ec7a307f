from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from controller.edges.file_discovery import FileDiscovery
from controller.ports import EdgeError


def test_a_target_is_published_in_prometheus_s_form_and_withdrawn_as_an_empty_list(tmp_path: Path) -> None:
    discovery = FileDiscovery(tmp_path / "targets")
    discovery.publish("loadgen", "127.0.0.1:9646", {"plan": "ünïcode"})
    path = tmp_path / "targets" / "loadgen.json"
    assert json.loads(path.read_text()) == [{"targets": ["127.0.0.1:9646"], "labels": {"plan": "ünïcode"}}]
    discovery.withdraw("loadgen")
    assert json.loads(path.read_text()) == []
    discovery.withdraw("never-published")


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    discovery = FileDiscovery(tmp_path)
    discovery.withdraw("loadgen")
    done = threading.Event()
    seen = []

    def read() -> None:
        while not done.is_set():
            seen.append(len(json.loads((tmp_path / "loadgen.json").read_text())))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(300):
        discovery.publish("loadgen", "127.0.0.1:1", {"n": "x" * 5000})
        discovery.withdraw("loadgen")
    done.set()
    reader.join()
    assert set(seen) <= {0, 1}
    assert len(seen) > 10
    assert [path.name for path in tmp_path.iterdir()] == ["loadgen.json"]


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EdgeError, match="could not tell Prometheus what to scrape"):
        FileDiscovery(tmp_path / "file" / "targets").publish("loadgen", "127.0.0.1:1", {})
    with pytest.raises(EdgeError, match="cannot be a file's name"):
        FileDiscovery(tmp_path).publish("../x", "127.0.0.1:1", {})
