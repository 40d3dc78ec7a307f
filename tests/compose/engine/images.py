"""The images of the composition on an engine that can pull none: ours by its Dockerfile, others as stand-ins."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.compose.composition import ROOT, by_ourselves
from tests.compose.engine.engine import Engine
from tests.compose.engine.materials import COMPILER, NEWER, base_archive, wheels

HERE = Path(__file__).parent / "stand_ins"
BARE, BASE, BUILD = "stagelight-base:bare", "stagelight-base:1", "stagelight-base:build"
WHEELS_IN_STAND_IN = ("uvloop", "httptools", "grpcio", "protobuf", "numpy", "typing_extensions")


def image_of(service: str) -> str:
    """The image that the composition names."""
    return str(by_ourselves()["services"][service]["image"])


def build_all(engine: Engine, folder: Path) -> None:
    """Base, ours, then the stand-ins of the upstream images under the upstream's names."""
    engine.docker("import", str(base_archive()), BARE)
    with served_wheels(engine) as address:
        (folder / "base").mkdir()
        (folder / "base/pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {address}\n")
        (folder / "base/Dockerfile").write_text(f"FROM {BARE}\nCOPY pip.conf /etc/pip.conf\n")
        build(engine, folder / "base", BASE)
        shutil.copytree(COMPILER / "usr", folder / "build/usr", symlinks=True)
        (folder / "build/Dockerfile").write_text(f"FROM {BASE}\nCOPY usr /usr\n")
        build(engine, folder / "build", BUILD)
        ours(engine, image_of("controller"))
    programs = NEWER / "usr/bin"
    stand_in(engine, folder, "prometheus", {"prometheus": programs / "prometheus", "promtool": programs / "promtool"})
    if "alertmanager" in by_ourselves()["services"]:
        names = {"alertmanager": programs / "prometheus-alertmanager", "amtool": programs / "amtool"}
        names["share"] = NEWER / "usr/share/prometheus/alertmanager"
        stand_in(engine, folder, "alertmanager", names)
    stand_in(engine, folder, "tfserving", {"compose/targets": ROOT / "compose/targets", "wheels": _wheels(folder)})
    doubles = ["compose/__init__.py", "compose/grafana_accounts.py", "controller/edges/grafana_double.py"]
    doubles += [f"compose/engine/{name}.py" for name in ("grafana_server", "grafana_provisioning")]
    stand_in(engine, folder, "grafana", {f"tests/{name}": ROOT / "tests" / name for name in doubles})


def ours(engine: Engine, tag: str) -> None:
    """Our image, by the Dockerfile and the context of the composition."""
    arguments = ["--build-arg", f"BASE_IMAGE={BASE}", "--build-arg", f"BUILD_IMAGE={BUILD}"]
    build(engine, ROOT, tag, "--file", str(ROOT / "compose/Dockerfile"), *arguments)


def stand_in(engine: Engine, folder: Path, service: str, files: dict[str, Path]) -> None:
    """Build the folder stand_ins/<service> with these files beside its Dockerfile, named as the composition says."""
    context = folder / service
    shutil.copytree(HERE / service, context)
    for name, source in files.items():
        place = context / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place)
    arguments = [f"BASE={BASE}", f"OURS={image_of('controller')}"]
    build(engine, context, image_of(service), *(word for each in arguments for word in ("--build-arg", each)))


def build(engine: Engine, context: Path, tag: str, *more: str) -> None:
    """Build with the engine's own network, which leads nowhere but to itself."""
    engine.docker("build", "--quiet", "--network", "host", "--tag", tag, *more, str(context), timeout=400)


@contextmanager
def served_wheels(engine: Engine) -> Iterator[str]:
    """The wheels on loopback of the engine's network, as an address for pip."""
    handler = functools.partial(Quiet, directory=str(wheels()))
    server = engine.within(lambda: http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
        """Keep the test's output clean."""


def _wheels(folder: Path) -> Path:
    chosen = folder / "stand-in-wheels"
    chosen.mkdir()
    for wheel in wheels().glob("*.whl"):
        if wheel.name.startswith(WHEELS_IN_STAND_IN):
            shutil.copy(wheel, chosen)
    return chosen
