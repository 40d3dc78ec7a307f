"""Is a large payload file good to its end? Looked through before load; of smaller ones the plan's reader saw all."""

from __future__ import annotations

from collections.abc import Iterator

from controller.plans.payload_contents import MOST_BYTES, Wanted, problems_in
from controller.plans.payload_keys import FILES
from controller.plans.plan import Plan
from controller.ports import Finding

MOST_TEXT_BYTES = 512 * 1024 * 1024
"""Of lines that are looked through, some ten seconds' work; arrays are looked through to their end."""


def payload_findings(plan: Plan) -> Iterator[Finding]:
    """None for small files; otherwise one that says what is wrong in its first bad places."""
    workload, served = plan.workload, plan.target.kind == "tfserving"
    wanted = Wanted(served, workload.payloads.rows, served and workload.allow_nan and workload.protocol == "rest")
    for source in FILES:
        path = getattr(workload.payloads, source)
        try:
            if path is None or path.stat().st_size <= MOST_BYTES:
                continue
            found = problems_in(source, path, wanted, None if source == "npy" else MOST_TEXT_BYTES)
        except (OSError, ValueError) as error:
            yield Finding("payload", False, f"could not read {path}: {' '.join(map(str, error.args))}")
            return
        if found:
            bad = "; ".join(f"{one.where}: {one.what}" for one in found)
            yield Finding("payload", False, f"{path}, {bad}; {found[0].remedy}")
