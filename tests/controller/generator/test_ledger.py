from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from controller.generator.latency import quantise
from controller.generator.ledger import OK, TIMEOUT, Ledger
from exporters.names.loadgen import OUTCOMES


def test_a_request_belongs_to_the_order_under_which_it_began() -> None:
    ledger = Ledger()
    ledger.switch(3, measured=False)
    early = ledger.begin()
    ledger.switch(3, measured=True)
    late = ledger.begin()
    ledger.end(late, OK, 5000)
    ledger.end(early, TIMEOUT, 3_000_001)
    assert ledger.take() == [
        (3, False, "timeout", {quantise(3_000_001): 1}, 3_000_001),
        (3, True, "ok", {5000: 1}, 5000),
    ]


def test_a_request_that_could_not_be_sent_belongs_to_the_order_under_which_it_was_tried() -> None:
    ledger = Ledger()
    ledger.switch(1, measured=True)
    intended = ledger.current
    ledger.switch(2, measured=True)
    ledger.end(ledger.begin(intended), TIMEOUT, 9)
    assert [cell[:3] for cell in ledger.take()] == [(1, True, "timeout")]


def test_what_ends_after_a_take_is_in_the_next_one() -> None:
    ledger = Ledger()
    account = ledger.begin()
    assert ledger.take() == []
    assert ledger.in_flight == 1
    ledger.end(account, OK, 7)
    taken = ledger.take()
    ledger.end(ledger.begin(), OK, 7)
    assert taken == ledger.take() == [(-1, False, "ok", {7: 1}, 7)]  # what was taken is not touched again


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("switch"), st.integers(0, 3), st.booleans()),
        st.tuples(st.just("begin"), st.just(0), st.just(False)),
        st.tuples(st.just("end"), st.integers(0, 9_000_000), st.booleans()),
        st.tuples(st.just("take"), st.just(0), st.just(False)),
    ),
    max_size=60,
)


@given(STEPS)
def test_every_request_is_taken_exactly_once_with_its_exact_sum(steps: list[tuple[str, int, bool]]) -> None:
    ledger, open_accounts, taken = Ledger(), [], []
    ended: Counter[tuple[int, bool, str]] = Counter()
    sums: Counter[tuple[int, bool, str]] = Counter()
    for step, value, flag in steps:
        match step:
            case "switch":
                ledger.switch(value, measured=flag)
            case "begin":
                open_accounts.append(ledger.begin())
            case "end" if open_accounts:
                account = open_accounts.pop(value % len(open_accounts))
                outcome = value % len(OUTCOMES)
                key = (account.slot, account.measured, OUTCOMES[outcome])
                ledger.end(account, outcome, value)
                ended[key] += 1
                sums[key] += value
            case "take":
                taken += ledger.take()
    taken += ledger.take()
    found: Counter[tuple[int, bool, str]] = Counter()
    found_sums: Counter[tuple[int, bool, str]] = Counter()
    for slot, measured, name, counts, sum_us in taken:
        found[slot, measured, name] += sum(counts.values())
        found_sums[slot, measured, name] += sum_us
    assert found == ended
    assert found_sums == sums
    assert ledger.in_flight == len(open_accounts)
    assert sum(ledger.totals) == ledger.ended == ended.total()
