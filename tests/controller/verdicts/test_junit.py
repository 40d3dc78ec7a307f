"""The JUnit file: a case for each objective in each window, counts that fit, and the mapping of rulings."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from controller.orders import WorkerHealth
from controller.verdicts.conclusion import conclude
from controller.verdicts.junit import to_xml
from controller.verdicts.record import RunRecord
from tests.controller.loads import P99_50, Reporter, a_cell, a_slot, remains

HOT = (WorkerHealth("worker-0", 5, 0.2, {"cpu": 1.2}),)


def a_record() -> RunRecord:
    """Slot 0 passes, 1 fails, 2 has too few requests, 3 is invalid."""
    reporter = Reporter()
    reporter.seconds(20, a_cell([10.0] * 100))
    reporter.seconds(20, a_cell([80.0] * 100, slot=1))
    reporter.seconds(20, a_cell([10.0] * 5, slot=2))
    reporter.seconds(20, a_cell([10.0] * 100, slot=3), workers=HOT)
    slots = [a_slot(seq, f"stage-{seq}", start=20.0 * seq) for seq in range(4)]
    return conclude(remains(reporter, slots, objectives=[P99_50]))


def parse(record: RunRecord) -> ET.Element:
    return ET.fromstring(to_xml(record))  # noqa: S314 - our own text


def check_schema(suites: ET.Element) -> None:
    """What the common JUnit schema asks for, by hand: elements, attributes, counts."""
    assert suites.tag == "testsuites"
    for suite in suites:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"} <= set(suite.attrib)
        cases = suite.findall("testcase")
        assert [child.tag for child in suite] == ["properties"] + ["testcase"] * len(cases)
        assert int(suite.attrib["tests"]) == len(cases)
        for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.attrib[count]) == sum(case.find(tag) is not None for case in cases)
        for case in cases:
            assert {"classname", "name", "time"} <= set(case.attrib)
            assert float(case.attrib["time"]) >= 0
            assert [child.tag for child in case] in (["system-out"], ["failure"], ["error"], ["skipped"])
        names = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
        assert len(set(names)) == len(names)


def test_it_fits_the_schema() -> None:
    check_schema(parse(a_record()))


def test_each_ruling_has_its_element() -> None:
    cases = {case.attrib["name"]: case[0] for case in parse(a_record()).iter("testcase")}
    elements = {name: element.tag for name, element in cases.items()}
    assert elements == {
        "stage-0 (slot 0): p99 <= 50ms": "system-out",
        "stage-1 (slot 1): p99 <= 50ms": "failure",
        "stage-2 (slot 2): p99 <= 50ms": "skipped",
        "stage-3 (slot 3): p99 <= 50ms": "error",
        "slot 3: saturated": "error",
    }
    failure = cases["stage-1 (slot 1): p99 <= 50ms"]
    assert "p99 is 80.1 ms" in failure.attrib["message"]
    assert failure.attrib["type"] == "fail"
    assert (failure.text or "").startswith("What to do: ")


def test_a_run_that_is_no_pass_is_never_all_green() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell([10.0] * 100))
    suites = parse(conclude(remains(reporter, objectives=[])))
    check_schema(suites)
    (case,) = suites.iter("testcase")
    assert case.attrib["name"] == "run: no objectives"
    assert case.find("skipped") is not None


@pytest.mark.parametrize("odd", ["a\x00b", "a\x1bb", "a\ud800b", "a\ufffeb"])
def test_characters_that_xml_does_not_know_do_not_break_it(odd: str) -> None:
    record = a_record()
    suites = parse(replace(record, plan=replace(record.plan, name=odd)))
    assert suites[0].attrib["name"] == "a?b"


def test_markup_in_names_is_text() -> None:
    record = a_record()
    suites = parse(replace(record, plan=replace(record.plan, name='<b>&"')))
    assert suites[0].attrib["name"] == '<b>&"'
