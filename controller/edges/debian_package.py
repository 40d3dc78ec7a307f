"""Programs from Debian's packages without installing them: fetched by apt, unpacked into a folder of our own.

    python -m controller.edges.debian_package FOLDER prometheus
    python -m controller.edges.debian_package FOLDER --suite forky prometheus promtool

Nothing of the system changes: no service starts, no root is needed unless apt has no package lists yet.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from controller.ports import EdgeError

SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d/debian.sources"))


def unpack(packages: Sequence[str], into: Path, suite: str | None = None) -> Path:
    """Fetch and unpack; returns the folder of the programs. Raises `EdgeError` with the reason and the remedy.

    `suite` takes the packages from another Debian release, with the machine's own sources as the pattern.
    """
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise EdgeError(f"could not fetch {' '.join(packages)}: this is no Debian system ({program} is missing)")
    into = into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    options = _options(into / "apt", suite) if suite else []
    with tempfile.TemporaryDirectory(dir=into) as cache:
        if not _download(packages, options, Path(cache)):
            _apt([*options, "update"], Path(cache))
            if not _download(packages, options, Path(cache)):
                raise EdgeError(f"could not fetch Debian's packages {' '.join(packages)}: apt does not find them")
        for archive in Path(cache).glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", str(archive), str(into)], check=True)
    return into / "usr" / "bin"


def _download(packages: Sequence[str], options: Sequence[str], cache: Path) -> bool:
    return _apt([*options, "download", *packages], cache) == 0


def _apt(arguments: Sequence[str], folder: Path) -> int:
    # apt's own helper user cannot write into our folder; without this it only warns, loudly
    sandbox = ["-oAPT::Sandbox::User=root"] if os.geteuid() == 0 else []
    command = ["apt-get", "-qq", *sandbox, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return done.returncode


def _options(folder: Path, suite: str) -> list[str]:
    """Apt options that read package lists of `suite` from the machine's own mirrors, kept apart in `folder`."""
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        if source.exists() and "debian" in (text := source.read_text()):
            listing = folder / f"{suite}{source.suffix}"
            listing.write_text(_of_suite(text, suite, source.suffix))
            return [
                f"-oDir::Etc::sourcelist={listing}",
                "-oDir::Etc::sourceparts=/dev/null",
                f"-oDir::State::Lists={folder / 'lists'}",
            ]
    raise EdgeError(f"could not find Debian's apt sources in {' or '.join(map(str, SOURCES))}")


def _of_suite(text: str, suite: str, suffix: str) -> str:
    if suffix == ".list":
        line = next(line for line in text.splitlines() if re.match(r"deb\s.*debian", line))
        return re.sub(r"^(deb\s+(?:\[.*?\]\s+)?\S+)\s+\S+.*$", rf"\1 {suite} main", line) + "\n"
    stanza = text.strip().split("\n\n")[0]
    return re.sub(r"(?m)^Suites:.*$", f"Suites: {suite}", stanza) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: unpack the packages, print the folder of the programs."""
    parser = argparse.ArgumentParser(
        description="Unpack programs of Debian packages into a folder, without installing."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--suite", help="take the packages from this Debian release")
    given = parser.parse_args(arguments)
    try:
        print(unpack(given.packages, given.folder, given.suite))  # noqa: T201 -- this is the program's answer
    except EdgeError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
