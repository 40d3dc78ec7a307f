"""The house rules that a machine can check: who imports whom, how long files are, what they may be called."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("controller", "exporters", "dashboards", "compose", "tests")
OURS = ("controller", "exporters", "dashboards")
LONGEST_FILE = 250
LONGEST_FUNCTION = 60
BANNED_NAMES = {"utils", "util", "helpers", "common", "manager", "misc", "base", "types", "core", "handler", "handlers"}

ALLOWED: dict[str, tuple[str, ...]] = {
    "exporters": ("exporters",),
    "dashboards": ("dashboards", "exporters.names", "exporters.metric", "exporters.loadgen_limits", "controller.names"),
    "controller": ("controller", "exporters.names", "exporters.metric", "exporters.loadgen_limits"),
    "controller/generator": (
        *("controller", "exporters.names", "exporters.metric", "exporters.loadgen_limits", "exporters.loadgen"),
        *("exporters.loadgen_pulse", "exporters.loadgen_readings", "exporters.loadgen_lookups"),
        *("exporters.loadgen_families", "exporters.loadgen_faults", "exporters.discipline"),
    ),
    "compose": ("compose",),
}
"""By folder, the longest prefix that fits a file counts."""

ONLY_IN: dict[str, tuple[str, ...]] = {
    "locust": ("controller/generator/", "exporters/locust_plugin.py"),
    "gevent": ("controller/generator/", "exporters/locust_plugin.py"),
    "pynvml": ("exporters/gpu/",),
    "psutil": ("exporters/", "controller/generator/"),
    "grafanalib": ("dashboards/",),
    "plotly": ("dashboards/",),
    "requests": ("controller/edges/", "controller/generator/own_outcome.py"),
    "rich": ("controller/cli/", "controller/verdicts/table"),
}


def sources(*packages: str) -> Iterator[Path]:
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "_pb2" not in path.name and "__pycache__" not in path.parts:
                yield path


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


@pytest.mark.parametrize("path", [*sources("exporters", "dashboards", "controller", "compose")], ids=relative)
def test_imports_go_one_way(path: Path) -> None:
    folder = max((key for key in ALLOWED if relative(path).startswith(f"{key}/")), key=len)
    ours = [module for module in imports(path) if within(module, (*OURS, "compose", "tests"))]
    wrong = [module for module in ours if not within(module, ALLOWED[folder])]
    assert not wrong, f"{relative(path)} imports {wrong}"


@pytest.mark.parametrize("path", [*sources("exporters", "dashboards", "controller")], ids=relative)
def test_each_library_stays_behind_its_edge(path: Path) -> None:
    name = relative(path)
    wrong = [
        module
        for module in imports(path)
        for library, homes in ONLY_IN.items()
        if within(module, (library,)) and not name.startswith(homes)
    ]
    assert not wrong, f"{name} imports {wrong}"


@pytest.mark.parametrize("path", [*sources(*PACKAGES)], ids=relative)
def test_files_and_functions_stay_short_and_well_named(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= LONGEST_FILE, f"{relative(path)} has more than {LONGEST_FILE} lines"
    assert path.stem not in BANNED_NAMES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno
            assert length <= LONGEST_FUNCTION, f"{relative(path)}:{node.lineno} {node.name} has {length} lines"


@pytest.mark.parametrize("path", [*sources(*PACKAGES)], ids=relative)
def test_nothing_is_mocked(path: Path) -> None:
    assert not [module for module in imports(path) if within(module, ("unittest", "mock"))]


def test_broad_handlers_are_few_and_known() -> None:
    broad = {relative(path) for path in sources(*OURS) if _has_broad_handler(path)}
    assert broad <= BROAD_HANDLERS, broad - BROAD_HANDLERS


BROAD_HANDLERS = {
    "exporters/source.py",
    "exporters/gpu/crew.py",
    "controller/generator/sender.py",
    "controller/generator/slot.py",
    "controller/generator/own_crowd.py",
    "controller/generator/own_recording.py",
    "controller/running/daemon.py",
    "controller/__main__.py",
}
"""Last lines of defence, each of which counts into a metric or ends the process with a sentence."""


def _has_broad_handler(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type
            if caught is None or (isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException")):
                return True
    return False


def test_every_tests_folder_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    missing = [relative(folder) for folder in folders if not (folder / "__init__.py").exists()]
    assert not missing


def test_no_other_distribution_claims_our_packages() -> None:
    claims = packages_distributions()
    assert not {name: claims[name] for name in OURS if set(claims.get(name, ())) - {"stagelight"}}


def test_the_controller_never_loads_gevent() -> None:
    """Importing locust patches the whole process; the daemon must stay as Python made it."""
    code = "import controller.__main__, sys; print([m for m in ('gevent', 'locust') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
