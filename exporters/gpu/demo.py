"""Shows GPU metrics without a GPU: a stand-in for the driver's library, loaded before the real one is looked for.

Everything goes the usual way, through pynvml; `gpu_simulated` is 1, and the devices say in their model what they are.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PREBUILT = "STAGELIGHT_GPU_STANDIN"
"""Environment variable: a library that was built already, for images without a compiler."""

SOURCE = Path(__file__).with_name("nvml_standin.c")
SCRIPT = Path(__file__).with_name("demo.script")

_keep: list[object] = []


class DemoError(RuntimeError):
    """The stand-in cannot be had; the message says why and what to do."""


def load(script: Path = SCRIPT) -> None:
    """Make pynvml of this process find the stand-in, which does what `script` says; raises DemoError."""
    if not script.is_file():
        raise DemoError(f"could not read the GPU script {script}: there is no such file")
    os.environ["NVML_STANDIN_SCRIPT"] = str(script.resolve())
    built = os.environ.get(PREBUILT)
    try:
        # its own name is the driver's: the dynamic loader then takes it for what it looks for
        _keep.append(ctypes.CDLL(built) if built else _compiled())
    except OSError as error:
        raise DemoError(f"could not load the GPU stand-in: {error}") from error


def build(library: Path) -> None:
    """Compile the stand-in into the file `library`; raises DemoError."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise DemoError(f"could not compile the GPU stand-in: no C compiler is on PATH; install one, or set {PREBUILT}")
    flags = ["-shared", "-fPIC", "-O1", "-Wl,-soname,libnvidia-ml.so.1"]
    command = [compiler, *flags, "-o", str(library), str(SOURCE), "-lm", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DemoError(f"could not compile the GPU stand-in: {done.stderr.strip() or compiler}")


def _compiled() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="stagelight-gpu-") as folder:
        library = Path(folder) / "libnvidia-ml.so.1"
        build(library)
        return ctypes.CDLL(str(library))  # stays loaded when the file is gone
