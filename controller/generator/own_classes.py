"""The user classes of a locustfile: loaded by Locust itself, checked, and dealt out to users.

`python -m controller.generator.own_classes FILE [CLASS…]` tells a controller, which must not import Locust, what is in
a file: one line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from locust import User
from locust.util.load_locustfile import load_locustfile

from controller.generator.http_request import SpecError


def load(file: Path, wanted: Sequence[str]) -> dict[str, type[User]]:
    """The file's user classes, or those wanted, in their order. Raises `SpecError` with what to do."""
    try:
        found, shapes = load_locustfile(str(file))
    except (Exception, SystemExit) as error:  # somebody's code: anything may happen
        raise SpecError(f"could not import {file}: {type(error).__name__}: {error}; correct the file") from error
    if shapes:
        names = ", ".join(type(shape).__name__ for shape in shapes)
        raise SpecError(
            f"could not use {file}: it has a load shape ({names}), and the plan's stages are the shape; remove it"
        )
    if missing := [name for name in wanted if name not in found]:
        has = ", ".join(found) or "none"
        raise SpecError(f"could not find the user class {missing[0]} in {file}: it has {has}; correct user_classes")
    if not found:
        raise SpecError(f"could not find a user class in {file}: define one, such as class Shopper(HttpUser)")
    classes = {name: found[name] for name in wanted or found}
    if idle := [name for name, one in classes.items() if not one.tasks]:
        raise SpecError(f"could not run {idle[0]} of {file}: it has no task; mark a method with @task")
    if not any(one.fixed_count > 0 or one.weight > 0 for one in classes.values()):
        raise SpecError(f"could not deal out users in {file}: no class has a weight or a fixed_count above 0")
    return classes


def deal(classes: Mapping[str, type[User]]) -> Iterator[str]:
    """The class of the first user, the second, and so on without end, over all workers together.

    `fixed_count` users come first; the others follow the weights as evenly as whole users can (smooth weighted
    round-robin), so that more users only ever add to fewer.
    """
    for name, one in classes.items():
        for _ in range(max(one.fixed_count, 0)):
            yield name
    weights = {name: one.weight for name, one in classes.items() if one.fixed_count <= 0 and one.weight > 0}
    credit = dict.fromkeys(weights, 0.0)
    while weights:
        for name, weight in weights.items():
            credit[name] += weight
        first = max(credit, key=lambda name: credit[name])
        credit[first] -= sum(weights.values())
        yield first


def dealt(classes: Mapping[str, type[User]], total: int, part: int, parts: int) -> Counter[str]:
    """How many users of each class worker `part` of `parts` runs, when all together run `total`."""
    mine: Counter[str] = Counter()
    for index, name in zip(range(total), deal(classes), strict=False):
        if index % parts == part:
            mine[name] += 1
    return mine


def _told(file: Path, wanted: Sequence[str]) -> dict[str, Any]:
    try:
        classes = load(file, wanted)
    except SpecError as error:
        return {"wrong": str(error)}
    return {"classes": {name: one.host for name, one in classes.items()}}


if __name__ == "__main__":
    told = json.dumps(_told(Path(sys.argv[1]), sys.argv[2:]), default=str)
    sys.stdout.write(f"\n{told}\n")
