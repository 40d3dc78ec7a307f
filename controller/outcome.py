"""How a run ended; what it means is the verdict's business."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The ways in which a run can end."""

    COMPLETED = "completed"
    STOPPED_BY_RULE = "stopped_by_rule"
    STOPPED_BY_PERSON = "stopped_by_person"
    CRASHED = "crashed"
    ABANDONED = "abandoned"  # its controller died; a later one closed it
    REFUSED = "refused"  # preflight found the target not usable
