"""The versions of the one served model: which are there, in which state, which one a request means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .codes import Code, Failure, invalid
from .model import FEATURES, signatures
from .signature import DEFAULT_SIGNATURE, Signature


class State(IntEnum):
    """Where a version is in its life; the values are those of the wire format."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


@dataclass(slots=True)
class Version:
    """One version: its state, the reason it ended if it failed, and its signatures once loaded."""

    number: int
    path: str
    state: State = State.START
    failure: Failure | None = None
    signatures: Mapping[str, Signature] | None = None

    def load(self) -> None:
        """Build the model, run it once so that the first request is no slower than the next, and become available."""
        self.signatures = signatures(self.number)
        self.signatures[DEFAULT_SIGNATURE].compute({"features": np.zeros((1, FEATURES), dtype=np.float32)})
        self.state = State.AVAILABLE


class Servables:
    """One model's versions. Ended ones stay listed, as on the real server."""

    def __init__(self, name: str, base_path: str, labels: Mapping[str, int]) -> None:
        """No versions yet; `labels` are names for version numbers."""
        self.name = name
        self.base_path = base_path
        self._labels = dict(labels)
        self._versions: dict[int, Version] = {}

    def expect(self, number: int) -> Version:
        """Start tracking a version that is about to load."""
        version = Version(number, f"{self.base_path.rstrip('/')}/{number}", State.LOADING)
        self._versions[number] = version
        return version

    def available(self) -> list[Version]:
        """Versions that can answer, oldest number first."""
        found = [version for version in self._versions.values() if version.state is State.AVAILABLE]
        return sorted(found, key=lambda version: version.number)

    def tracked(self) -> list[int]:
        """Numbers of all versions not yet ended."""
        return sorted(number for number, version in self._versions.items() if version.state < State.UNLOADING)

    def find(self, name: str, number: int | None = None, label: str | None = None) -> Version:
        """The version a request means: by number, by label, or the latest. Raises Failure if there is none."""
        if not name:
            raise invalid("ModelSpec has no name specified.")
        if label is not None:
            number = self._labels.get(label) if name == self.name else None
            if number is None:
                raise invalid(f"Unrecognized servable version label: {label}")
        if name == self.name:
            latest: Version | None = None
            for version in self._versions.values():
                if version.state is State.AVAILABLE and number in (None, version.number):
                    latest = version if latest is None or version.number > latest.number else latest
            if latest is not None:
                return latest
        request = f"Latest({name})" if number is None else f"Specific({name}, {number})"
        raise Failure(Code.NOT_FOUND, f"Servable not found for request: {request}")

    def states(self, name: str, number: int | None = None) -> list[Version]:
        """What a status request lists, newest number first. Raises Failure for an unknown model or version."""
        known = self._versions if name == self.name else {}
        if number is not None:
            if number not in known:
                raise Failure(Code.NOT_FOUND, f"Could not find version {number} of model {name}")
            return [known[number]]
        if not known:
            raise Failure(Code.NOT_FOUND, f"Could not find any versions of model {name}")
        return sorted(known.values(), key=lambda version: -version.number)


def signature_of(version: Version, name: str) -> Signature | None:
    """A version's signature by name; None if it has no such signature or is not loaded."""
    return version.signatures.get(name) if version.signatures is not None else None
