"""Tables of names, versions and reasons: summed over workers, bounded, the rest in one entry."""

from __future__ import annotations

from controller.breakdown import FAILED, GOOD, MOST_ENTRIES, REASONS, REST, VERSIONS, together
from controller.generator.ledger import HTTP_ERROR
from controller.generator.reasons import Reasons
from controller.verdicts.reasons import FAILURES, MODEL_VERSIONS, REQUEST_NAMES, ReasonKind, target_reasons, told_facts


def test_what_workers_tell_is_summed_and_bounded_without_losing_a_request() -> None:
    parts = [
        {GOOD: {f"GET /{worker}/{number}": number + 1 for number in range(50)}, FAILED: {REST: 7}} for worker in "ab"
    ]
    found = together(parts)
    assert len(found[GOOD]) == MOST_ENTRIES + 1
    assert sum(found[GOOD].values()) == 2 * sum(range(1, 51))
    assert min(number for name, number in found[GOOD].items() if name != REST) >= 25
    assert found[FAILED] == {REST: 14}
    assert together([]) == {}


def test_the_record_gets_names_versions_and_reasons() -> None:
    reasons = Reasons()
    reasons.names.update({("GET /a", True): 5, ("GET /a", False): 1, ("POST /b", False): 2})
    reasons.versions.update({3: 5})
    reasons.note(HTTP_ERROR, ValueError("503"))
    facts = told_facts(together([reasons.told(), reasons.told()]))
    assert facts == {
        REQUEST_NAMES: {"GET /a": {"good": 10, "failed": 2}, "POST /b": {"good": 0, "failed": 4}},
        MODEL_VERSIONS: {"3": 10},
        FAILURES: {"http_error: ValueError: 503": 2},
    }
    assert target_reasons(facts) == ()


def test_answers_of_two_versions_make_a_run_invalid() -> None:
    (reason,) = target_reasons(told_facts({VERSIONS: {"3": 1000, "4": 200}, REASONS: {}}))
    assert reason.kind is ReasonKind.TARGET_CHANGED
    assert (
        reason.sentence
        == "the model changed during the run: answers were given 1,000 by version 3 and 200 by version 4"
    )
