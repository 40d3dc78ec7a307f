"""The verdict for CI systems: JUnit XML with one test case for each objective in each window.

Mapping: pass is a plain case; fail a `<failure>`; invalid an `<error>`, because the instrument broke, not the target;
inconclusive a `<skipped>`, because nothing was decided. Reasons that belong to no objective (saturation, a lost worker,
a run cut short, no objectives) become cases of their own, so that a run that is no pass never shows as all green.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from controller.verdicts.reasons import Reason, ReasonKind, Ruling
from controller.verdicts.record import RunRecord
from controller.verdicts.verdict import ObjectiveResult

OF_OBJECTIVES = frozenset({ReasonKind.OBJECTIVE_MISSED, ReasonKind.STRADDLES, ReasonKind.TOO_FEW, ReasonKind.UNKNOWN})
"""Reasons that an objective's own case already tells."""

_ELEMENTS = {Ruling.FAIL: "failure", Ruling.INVALID: "error", Ruling.INCONCLUSIVE: "skipped"}


def to_xml(record: RunRecord) -> bytes:
    """The document, UTF-8 with a declaration."""
    cases = list(_cases(record))
    length = (record.ended - record.started).total_seconds()
    totals = {
        "tests": str(len(cases)),
        "failures": _number(cases, "failure"),
        "errors": _number(cases, "error"),
        "skipped": _number(cases, "skipped"),
        "time": f"{length:.3f}",
    }
    suites = ET.Element("testsuites", {"name": "stagelight", **totals})
    named = {"name": _clean(record.plan.name), "timestamp": record.started.strftime("%Y-%m-%dT%H:%M:%S")}
    suite = ET.SubElement(suites, "testsuite", {**named, **totals})
    properties = ET.SubElement(suite, "properties")
    facts = {"run_id": record.run_id, "plan_digest": record.plan.digest, "outcome": record.outcome.value}
    for name, value in {**facts, "verdict": record.verdict.ruling.value}.items():
        ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})
    suite.extend(cases)
    ET.indent(suites, " ")
    return bytes(ET.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _cases(record: RunRecord) -> Iterator[ET.Element]:
    classname = f"stagelight.{record.plan.name}"
    lengths = {window.slot: window.seconds for window in record.windows}
    for result in record.verdict.objectives:
        name = f"{result.stage} (slot {result.slot}): {result.objective}"
        yield _case(
            classname, name, lengths.get(result.slot, 0.0), result.ruling, result.sentence, _advice(record, result)
        )
    for reason in record.verdict.reasons:
        if reason.kind not in OF_OBJECTIVES:
            where = "run" if reason.slot is None else f"slot {reason.slot}"
            name = f"{where}: {reason.kind.value.replace('_', ' ')}"
            yield _case(classname, name, 0.0, reason.ruling, reason.sentence, reason.advice)


def _advice(record: RunRecord, result: ObjectiveResult) -> str:
    found: list[Reason] = [r for r in record.verdict.reasons if r.sentence == result.sentence]
    return found[0].advice if found else ""


def _case(classname: str, name: str, length: float, ruling: Ruling, sentence: str, advice: str) -> ET.Element:
    case = ET.Element("testcase", {"classname": _clean(classname), "name": _clean(name), "time": f"{length:.3f}"})
    if ruling is Ruling.PASS:
        ET.SubElement(case, "system-out").text = _clean(sentence)
        return case
    element = ET.SubElement(case, _ELEMENTS[ruling], {"message": _clean(sentence)})
    if ruling is not Ruling.INCONCLUSIVE:
        element.set("type", ruling.value)
    if advice:
        element.text = _clean(f"What to do: {advice}.")
    return case


def _number(cases: list[ET.Element], element: str) -> str:
    return str(sum(case.find(element) is not None for case in cases))


def _clean(text: str) -> str:
    """XML 1.0 knows no control characters but tab and line ends, nor lone surrogates; they become question marks."""
    return re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
