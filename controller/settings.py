"""Where things are and what is allowed on this machine: from `STAGELIGHT_…` variables and a YAML file, read once.

A plan says what is to be done and can be shared; nothing in it depends on these. A variable goes before the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from controller import setting_forms
from controller.edges.grafana_credential import Credential, PasswordFile, TokenFile
from controller.plans.problems import Findings
from controller.plans.text import read_text
from controller.plans.yaml_source import Listing, Node, Scalar, Table, parse

PREFIX = "STAGELIGHT_"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is configurable outside plans. A service whose address is None is not used."""

    runs: Path = Path("runs")
    discovery: Path = Path("prometheus/targets")  # where Prometheus looks for `<job>.json`
    listen: tuple[str, int] = ("127.0.0.1", 9690)  # of the controller's own /metrics
    generator_listen: str = "127.0.0.1"  # host on which the generator serves its metrics, on a free port
    generator_address: str | None = None  # host by which Prometheus reaches it, if that is another
    generator_bind: tuple[str, int] | None = None  # where workers of other hosts reach the generator's master
    worker_secret_file: Path | None = None  # the secret that they have, too
    worker_hosts: str | None = None  # a name with an address for each host that has a worker: how many `auto` is
    prometheus_url: str | None = None
    grafana_url: str | None = None
    grafana_token_file: Path | None = None
    grafana_user: str | None = None
    grafana_password_file: Path | None = None
    allow_targets: tuple[str, ...] = ()  # beside loopback: names, addresses or networks, with or without a port
    min_free: int = 200_000_000  # bytes on the runs folder's disk, below which no run begins
    deadline_factor: float = 1.0  # hard deadline of a run = its planned span times this, plus a margin

    def credential(self) -> Credential | None:
        """How to log in to Grafana: the token first, else user and password, else not at all."""
        if self.grafana_token_file is not None:
            return TokenFile(self.grafana_token_file)
        if self.grafana_user is not None and self.grafana_password_file is not None:
            return PasswordFile(self.grafana_user, self.grafana_password_file)
        return None


FORMS: Mapping[str, setting_forms.Form] = {
    "runs": setting_forms.path,
    "discovery": setting_forms.path,
    "listen": setting_forms.address,
    "generator_listen": setting_forms.word,
    "generator_address": setting_forms.word,
    "generator_bind": setting_forms.address,
    "worker_secret_file": setting_forms.path,
    "worker_hosts": setting_forms.word,
    "prometheus_url": setting_forms.url,
    "grafana_url": setting_forms.url,
    "grafana_token_file": setting_forms.path,
    "grafana_user": setting_forms.word,
    "grafana_password_file": setting_forms.path,
    "allow_targets": setting_forms.targets,
    "min_free": setting_forms.size,
    "deadline_factor": setting_forms.factor,
}
"""How each setting is written; the same in the file and in the environment."""


def load_settings(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings of a file, if one is given, and the environment. Raises `PlanError` with every problem at once.

    Relative paths start at the file's folder, those of variables at the current one.
    """
    findings = Findings(str(path) if path else "environment", path.parent if path else Path())
    values = dict(_from_file(path, findings)) if path else {}
    outside = Findings("environment", Path())
    values |= dict(_from_environment(os.environ if environment is None else environment, outside))
    _check_together(values, findings)
    findings.problems += outside.problems
    if findings.problems:
        raise findings.error()
    return Settings(**values)


def _from_file(path: Path, findings: Findings) -> Iterator[tuple[str, Any]]:
    text = read_text(path)
    said = any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())
    root = parse(text, findings) if said else None
    if root is not None and not isinstance(root, Table):
        findings.add(root.line, "", "is not a mapping", "write one `setting: value` a line")
    for entry in root.entries if isinstance(root, Table) else ():
        if entry.key not in FORMS:
            findings.add(entry.line, entry.key, "is not a setting", _nearest(entry.key, list(FORMS)))
        elif (written := _written(entry.value)) is None:
            findings.add(entry.line, entry.key, "is a mapping or a list", "write one value")
        else:
            yield from _value(entry.key, written, findings, entry.key, entry.line)


def _from_environment(environment: Mapping[str, str], findings: Findings) -> Iterator[tuple[str, Any]]:
    """Variables with our prefix that we do not know may be somebody else's; those that look like a slip are refused."""
    known = {PREFIX + name.upper(): name for name in FORMS}
    for variable, text in sorted(environment.items()):
        if variable in known:
            if text:
                yield from _value(known[variable], text, findings, variable, 0)
        elif variable.startswith(PREFIX):
            near = get_close_matches(variable.removeprefix(PREFIX), [name.upper() for name in FORMS], n=1, cutoff=0.85)
            if near:
                findings.add(0, variable, "is not a setting", f"did you mean {PREFIX}{near[0]}?")


def _value(name: str, text: str, findings: Findings, place: str, line: int) -> Iterator[tuple[str, Any]]:
    try:
        value = FORMS[name](text)
    except ValueError as error:
        message, remedy = error.args
        findings.add(line, place, message, remedy)
        yield name, None  # given, so that nothing else is said to be missing
    else:
        yield name, findings.folder / value if isinstance(value, Path) else value


def _written(node: Node) -> str | None:
    """A value's text; lists of plain values as the environment has them, with commas."""
    match node:
        case Scalar(text):
            return text
        case Listing(items) if all(isinstance(item, Scalar) for item in items):
            return ",".join(item.text for item in items if isinstance(item, Scalar))
        case _:
            return None


def _check_together(values: Mapping[str, Any], findings: Findings) -> None:
    if ("grafana_user" in values) != ("grafana_password_file" in values):
        here, missing = ("grafana_user", "grafana_password_file")
        if here not in values:
            here, missing = missing, here
        findings.add(0, here, f"stands without {missing}", f"set {missing} too, or use grafana_token_file")
    if "grafana_url" not in values:
        for name in sorted(values.keys() & {"grafana_token_file", "grafana_user", "grafana_password_file"}):
            findings.add(0, name, "stands without grafana_url", "set grafana_url, or leave both out")


def _nearest(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"


if {field.name for field in fields(Settings)} != set(FORMS):
    raise AssertionError("every setting needs a form")
