"""Type-check dashboards with tsc against `@grafana/schema` of one Grafana version."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SCHEMA = Path(__file__).parent / "schema"
ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "dashboard-schema"
"""Installed packages, kept between runs; made anew when the lock file changes."""


@dataclass(frozen=True, slots=True)
class Grafana:
    """Where one version's package keeps its type files."""

    version: str
    index: str
    panel: str  # `{0}`: the panel's folder, `{1}`: its name in file names


VERSIONS = (
    Grafana("11", "dist/esm/index.d.ts", "dist/esm/raw/composable/{0}/panelcfg/x/{1}PanelCfg_types.gen.d.ts"),
    Grafana("12", "dist/types/index.d.ts", "dist/types/raw/composable/{0}/panelcfg/x/types.gen.d.ts"),
    Grafana("13", "dist/types/index.d.ts", "dist/types/raw/composable/{0}/panelcfg/x/types.gen.d.ts"),
)
PANELS = {
    "heatmap": "Heatmap",
    "stat": "Stat",
    "statetimeline": "StateTimeline",
    "table": "Table",
    "timeseries": "TimeSeries",
    "xychart": "XYChart",
}


def install(npm: str) -> None:
    """Bring all packages of the lock file into the cache; the network is asked only when the lock has changed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = (SCHEMA / "package-lock.json").read_text()
        mark = CACHE / "installed-package-lock.json"
        if not mark.is_file() or mark.read_text() != wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SCHEMA / name, CACHE / name)
            command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=240, check=False)
            assert done.returncode == 0, f"could not install the type definitions: {done.stderr}"
            mark.write_text(wanted)


def problems(documents: dict[str, str], grafana: Grafana, folder: Path, node: str) -> dict[str, list[str]]:
    """What tsc finds wrong with each document (name to JSON text); documents that fit the types are not in the answer.

    `folder` is scratch space; the packages must be installed.
    """
    shutil.copy(SCHEMA / "strict.ts", folder / "strict.ts")
    for name, document in documents.items():
        head = 'import type { StrictDashboard } from "./strict";\nexport const board: StrictDashboard = '
        (folder / f"{name}.ts").write_text(head + document.rstrip() + ";\n")
    (folder / "tsconfig.json").write_text(json.dumps(_tsconfig(grafana)))
    tsc = CACHE / "node_modules" / "typescript" / "bin" / "tsc"
    command = [node, str(tsc), "--pretty", "false"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0 or done.stdout, f"could not run tsc: {done.stderr}"
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if not line.startswith(" "):
            found.setdefault(line.partition(".ts(")[0], []).append(line)
    return found


def _tsconfig(grafana: Grafana) -> dict[str, object]:
    package = CACHE / "node_modules" / f"grafana-schema-{grafana.version}"
    paths = {"@grafana/schema": [str(package / grafana.index)]}
    for folder, name in PANELS.items():
        paths[f"panelcfg/{folder}"] = [str(package / grafana.panel.format(folder, name))]
    for path in (path for (path,) in paths.values()):
        assert Path(path).is_file(), f"could not find the type file {path}: the package's layout has changed"
    return {
        "compilerOptions": {
            "strict": True,
            "noEmit": True,
            "module": "esnext",
            "target": "es2022",
            "moduleResolution": "bundler",
            "skipLibCheck": True,
            "types": [],
            "paths": paths,
        },
        "include": ["*.ts"],
    }
