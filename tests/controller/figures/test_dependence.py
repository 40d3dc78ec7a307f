"""Requests that come in lumps are worth less than their number."""

from __future__ import annotations

import pytest

from controller.figures.dependence import MOST_BATCHES, effective_size, groups
from tests.controller.loads import dice


def test_independent_requests_are_worth_their_number_or_nearly() -> None:
    rolls, sizes = dice(5), []
    for _ in range(200):
        hits = [(sum(rolls.random() < 0.05 for _ in range(100)), 100) for _ in range(30)]
        sizes.append(effective_size(hits))
    assert max(sizes) <= 3000
    assert sorted(sizes)[100] > 0.7 * 3000


def test_errors_in_one_burst_are_worth_little() -> None:
    spread = [(5, 100)] * 30
    burst = [(100, 100), (50, 100)] + [(0, 100)] * 28
    assert effective_size(spread) == 3000
    assert effective_size(burst) < 100


@pytest.mark.parametrize("hits", [[(0, 100)] * 30, [(100, 100)] * 30, [(1, 100)] * 9, []])
def test_where_dependence_cannot_be_seen_the_number_stands(hits: list[tuple[int, int]]) -> None:
    assert effective_size(hits) == sum(size for _, size in hits)


@pytest.mark.parametrize("number", [0, 1, 9, 31, 32, 33, 64, 127, 128])
def test_batches_are_grouped_evenly_and_without_loss(number: int) -> None:
    found = groups(number)
    assert [index for group in found for index in group] == list(range(number))
    assert len(found) <= MOST_BATCHES
    assert len({len(group) for group in found[:-1]}) <= 1
