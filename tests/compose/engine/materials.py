"""What the images are made of where none can be pulled: a Debian base, Python wheels, Debian's programs.

All of it is kept in build/, so that only the first run fetches.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from controller.edges.debian_package import SOURCES, unpack
from controller.ports import EdgeError
from tests.compose.composition import ROOT
from tests.compose.engine.engine import PACKAGES, TOOLS, EngineError, run

MATERIALS = ROOT / "build/compose-materials"
NEWER = ROOT / "build/tools-newer"
COMPILER = ROOT / "build/tools-compiler"
SUITE, NEWER_SUITE = "bookworm", "forky"
OF_COMPILER = (
    "binutils", "binutils-common", "binutils-x86-64-linux-gnu", "libbinutils", "libctf0", "libctf-nobfd0", "gcc",
    "gcc-12", "cpp", "cpp-12", "libgcc-12-dev", "libc6-dev", "linux-libc-dev", "libcrypt-dev", "libisl23", "libmpc3",
    "libmpfr6", "libgmp10", "libcc1-0", "libjansson4",
)  # fmt: skip
IN_BASE = ("python3", "python3-venv", "busybox", "curl")
LOCK = ROOT / "requirements.lock"


def fetch_programs() -> None:
    """The engine's and the stand-ins' programs. Raises `EngineError`."""
    try:
        if not (TOOLS / "usr/sbin/dockerd").exists():
            unpack(PACKAGES, TOOLS)
        if not (COMPILER / "usr/bin/gcc").exists():
            unpack(OF_COMPILER, COMPILER)
        for program, package in (
            ("bin/prometheus", "prometheus"),
            ("bin/promtool", "promtool"),
            ("bin/prometheus-alertmanager", "prometheus-alertmanager"),
            ("libexec/docker/cli-plugins/docker-compose", "docker-compose"),
        ):
            if not (NEWER / "usr" / program).exists():
                unpack([package], NEWER, NEWER_SUITE)
    except EdgeError as error:
        raise EngineError(str(error)) from error


def base_archive() -> Path:
    """The root file system that stands in for python:3.11-slim-bookworm, as a tar file. Raises `EngineError`."""
    archive = MATERIALS / "base.tar"
    if archive.exists():
        return archive
    root = MATERIALS / "root"
    shutil.rmtree(root, ignore_errors=True)
    MATERIALS.mkdir(parents=True, exist_ok=True)
    environment = {"DEBOOTSTRAP_DIR": str(TOOLS / "usr/share/debootstrap"), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    program = TOOLS / "usr/sbin/debootstrap"
    run([program, "--variant=minbase", f"--include={','.join(IN_BASE)}", SUITE, root, _mirror()], env=environment)
    _slim(root)
    partial = archive.with_suffix(".new")
    run(["tar", "--create", "--numeric-owner", "--file", partial, "--directory", root, "."])
    partial.rename(archive)
    shutil.rmtree(root)
    return archive


def wheels() -> Path:
    """Every locked package as a wheel. Raises `EngineError`."""
    folder = MATERIALS / "wheels"
    stamp = folder / "lock"
    if stamp.exists() and stamp.read_bytes() == LOCK.read_bytes():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--require-hashes"]
    run([*pip, "--requirement", LOCK, "--dest", folder])
    stamp.write_bytes(LOCK.read_bytes())
    return folder


def _mirror() -> str:
    for source in SOURCES:
        if source.exists() and (found := re.search(r"(?m)^(?:URIs:|deb(?: \[.*?\])?)\s*(\S+)", source.read_text())):
            return found[1]
    raise EngineError("could not find Debian's mirror in apt's sources")


def _slim(root: Path) -> None:
    """What an official slim image leaves out; `python` and `wget` where such images have them."""
    for pattern in (
        "usr/share/doc/*",
        "usr/share/man/*",
        "usr/share/locale/*",
        "var/cache/apt/*",
        "var/lib/apt/lists/*",
    ):
        for path in root.glob(pattern):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    subprocess.run(["find", str(root), "-name", "__pycache__", "-prune", "-exec", "rm", "-rf", "{}", "+"], check=False)
    (root / "usr/local/bin/python").symlink_to("../../bin/python3")
    (root / "usr/local/bin/wget").symlink_to("../../bin/busybox")
