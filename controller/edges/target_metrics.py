"""Can the target's own metrics be read, and under which names?"""

from __future__ import annotations

import re

from controller.edges.target_call import Caller, NoAnswerError
from controller.plans.plan import Target
from controller.ports import Finding

_SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{| )", re.MULTILINE)
_COLON = ":tensorflow:"
_REWRITTEN = re.compile(r"^_?tensorflow_(?:serving|core|cc)_")

MONITORING = "start TF Serving with --monitoring_config_file and set target.metrics to its path"


def metrics_finding(target: Target, caller: Caller) -> Finding:
    """Never a refusal: a run without the server's own view is poorer, not wrong."""
    if target.metrics is None:
        if target.kind == "http":
            return Finding("metrics", True, "the target names no metrics page: the server's own view is left out")
        return _warning(f"target.metrics is not set: the server's own histograms are left out; {MONITORING}")
    try:
        answer = caller.get(target.metrics)
    except NoAnswerError as error:
        return _warning(f"the target's metrics cannot be read: {error}".replace("target.rest", "target.metrics"))
    if answer.status != 200:
        remedy = MONITORING if target.kind == "tfserving" else "correct target.metrics"
        return _warning(f"the target's metrics at {target.metrics} answer {answer.status}; {remedy}")
    names = set(_SAMPLE.findall(answer.content.decode(errors="replace")))
    if target.kind == "http":
        return Finding("metrics", True, f"{len(names)} metric names at {target.metrics}") if names else _empty(target)
    colon = [name for name in names if name.startswith(_COLON)]
    rewritten = [name for name in names if _REWRITTEN.match(name)]
    if colon:
        return Finding("metrics", True, f"{len(colon)} of TF Serving's names at {target.metrics}, in their colon form")
    if rewritten:
        example = min(rewritten)
        what = f"TF Serving's names at {target.metrics} were rewritten (such as {example})"
        return _warning(f"{what}; dashboards and rules want the colon form: scrape the server itself")
    return _empty(target)


def _empty(target: Target) -> Finding:
    what = "TF Serving" if target.kind == "tfserving" else "Prometheus"
    return _warning(f"there are no metrics of {what} at {target.metrics}; correct target.metrics")


def _warning(sentence: str) -> Finding:
    return Finding("metrics", True, sentence, warning=True)
