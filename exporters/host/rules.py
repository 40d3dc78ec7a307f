"""Which processes are of interest: rules by name, command line, port or cgroup, and the search for what they find."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from exporters import kernel

Kind = Literal["name", "command", "port", "cgroup"]
KINDS: tuple[Kind, ...] = ("name", "command", "port", "cgroup")

MOST_PROCESSES = 64
"""By rule; a rule that finds more keeps the ones with the lowest numbers."""
_LISTENING = "0A"
_RULE = re.compile(r"(?P<process>[A-Za-z_][A-Za-z0-9_.-]*)=(?P<kind>[a-z]+):(?P<value>.+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """`process` is the label of what the rule finds.

    `name`: the program's short name or the file name of its command, whole, as a regular expression; `command`: a
    regular expression found in the command line; `port`: a TCP port that it listens on; `cgroup`: its cgroup or one
    below it.
    """

    process: str
    kind: Kind
    value: str


def parse(text: str) -> Rule:
    """Read `<label>=<kind>:<value>`, as in `model=port:8500`; raises ValueError with the reason."""
    match = _RULE.fullmatch(text)
    kind = next((kind for kind in KINDS if match is not None and kind == match["kind"]), None)
    if match is None or kind is None:
        raise ValueError(f"{text!r} is not LABEL=KIND:VALUE with the kind name, command, port or cgroup")
    if kind == "port" and not (match["value"].isdecimal() and 0 < int(match["value"]) < 65536):
        raise ValueError(f"{match['value']!r} in {text!r} is not a port, such as 8500")
    if kind in ("name", "command"):
        try:
            re.compile(match["value"])
        except re.error as error:
            raise ValueError(f"{match['value']!r} in {text!r} is not a regular expression: {error}") from error
    return Rule(match["process"], kind, match["value"])


@dataclass(frozen=True, slots=True)
class Search:
    """Process numbers by label, and how many processes would not tell by which reason."""

    found: dict[str, tuple[int, ...]]
    denied: dict[str, int]


def search(proc: Path, rules: tuple[Rule, ...], own: int) -> Search:
    """Look at every process under `proc` but `own`, whose command line has the rules in it."""
    ports = {rule.value: _listeners(proc, int(rule.value)) for rule in rules if rule.kind == "port"}
    found: dict[str, list[int]] = {rule.process: [] for rule in rules}
    denied: dict[str, int] = {}
    for pid in sorted(_pids(proc)):
        if pid == own:
            continue
        for rule in rules:
            try:
                fits = _fits(proc / str(pid), rule, ports.get(rule.value, frozenset()))
            except PermissionError:
                denied[rule.process] = denied.get(rule.process, 0) + 1
                continue
            except OSError:
                continue  # it has ended meanwhile
            if fits and pid not in found[rule.process] and len(found[rule.process]) < MOST_PROCESSES:
                found[rule.process].append(pid)
    return Search({process: tuple(pids) for process, pids in found.items()}, denied)


def _fits(folder: Path, rule: Rule, sockets: frozenset[str]) -> bool:
    match rule.kind:
        case "name":
            command = kernel.read(folder / "cmdline", keep=False).partition("\0")[0].rpartition("/")[2]
            short = kernel.read(folder / "comm", keep=False).strip()
            return any(re.fullmatch(rule.value, name) for name in (short, command) if name)
        case "command":
            command = kernel.read(folder / "cmdline", keep=False).replace("\0", " ")
            return re.search(rule.value, command) is not None
        case "port":
            return bool(sockets) and any(link in sockets for link in _links(folder / "fd"))
        case "cgroup":
            paths = [line.split(":", 2)[-1] for line in kernel.read(folder / "cgroup", keep=False).splitlines()]
            return any(f"{path}/".startswith(f"{rule.value.rstrip('/')}/") for path in paths)


def _links(folder: Path) -> Iterator[str]:
    for name in os.listdir(folder):  # noqa: PTH208 - names only
        try:
            yield os.readlink(folder / name)  # noqa: PTH115 - the link's text, which is no path
        except FileNotFoundError:
            continue  # closed meanwhile


def _listeners(proc: Path, port: int) -> frozenset[str]:
    """The sockets that listen on `port`, as links in a process's descriptors name them."""
    ending = f":{port:04X}"
    rows = (
        line.split()
        for name in ("tcp", "tcp6")
        for line in (kernel.read_or_none(proc / "net" / name) or "").splitlines()[1:]
    )
    return frozenset(
        f"socket:[{row[9]}]" for row in rows if len(row) > 9 and row[1].endswith(ending) and row[3] == _LISTENING
    )


def _pids(proc: Path) -> list[int]:
    return [int(name) for name in os.listdir(proc) if name.isdecimal()]  # noqa: PTH208 - names only
