"""An archived run judged again: figures computed anew from its histogram log, then judged just as in the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from controller.figures import hlog
from controller.figures.hlog import HlogError, Key
from controller.figures.measurement import METHOD, Batch
from controller.figures.window import Window, with_figures
from controller.ports import EdgeError
from controller.verdicts.reasons import Reason, ReasonKind, Ruling, target_reasons
from controller.verdicts.record import RecordError, RunRecord, from_json
from controller.verdicts.verdict import exit_code, judge

ADVICE = "do not use this archive; measure again"


def read_run(folder: Path) -> tuple[RunRecord, Mapping[Key, tuple[Batch, ...]]]:
    """Record and histograms of a run's folder. Raises `EdgeError` when one of them is missing or damaged."""
    record = read_record(folder / "record.json")
    path = folder / "latency.hlog"
    try:
        return record, hlog.read(path.read_bytes())
    except (OSError, HlogError) as error:
        raise EdgeError(f"could not judge {folder} again: {path.name}: {error}") from error


def read_record(path: Path) -> RunRecord:
    """One record file. Raises `EdgeError`."""
    try:
        return from_json(path.read_bytes())
    except (OSError, RecordError) as error:
        raise EdgeError(f"could not read {path}: {error}") from error


def rejudge(record: RunRecord, batches: Mapping[Key, tuple[Batch, ...]]) -> RunRecord:
    """The record with figures, verdict and exit code computed anew; pure.

    Counts of the record and of the histograms that differ are a reason for an invalid verdict: one of them was changed.
    """
    windows = tuple(with_figures(window, batches.get((window.slot, True), ())) for window in record.windows)
    differing = [
        _differs(old, new) for old, new in zip(record.windows, windows, strict=True) if old.outcomes != new.outcomes
    ]
    anew = replace(record, windows=windows, method=METHOD)
    verdict = judge(anew.evidence, (*differing, *target_reasons(record.extra)))
    return replace(anew, verdict=verdict, exit_code=exit_code(record.outcome, verdict))


def _differs(old: Window, new: Window) -> Reason:
    pairs = [
        f"{outcome}: {number:,} in the record, {new.outcomes.get(outcome, 0):,} in the histograms"
        for outcome, number in old.outcomes.items()
        if number != new.outcomes.get(outcome, 0)
    ]
    sentence = f"{old.name}: record and histogram log do not tell of the same requests ({'; '.join(pairs)})"
    return Reason(ReasonKind.ARCHIVE_DIFFERS, Ruling.INVALID, old.slot, sentence, ADVICE)
