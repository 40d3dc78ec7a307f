"""Secrets by reference, resolved when load starts; what a plan may not hold is pinned by the invalid plans."""

from __future__ import annotations

import pytest

from controller.plans.header_text import check_header, resolve_headers

HEADERS = (("Authorization", "Bearer ${env:TOKEN}"), ("X-Two", "${env:A}-${env:B_2}"), ("X-Plain", "$5 {a}"))


def test_references_are_replaced_anywhere_in_a_value() -> None:
    for name, value in HEADERS:
        check_header(name, value)
    environment = {"TOKEN": "abc", "A": "1", "B_2": "${env:A}"}
    assert resolve_headers(HEADERS, environment) == (
        ("Authorization", "Bearer abc"),
        ("X-Two", "1-${env:A}"),
        ("X-Plain", "$5 {a}"),
    )


@pytest.mark.parametrize("environment", [{}, {"TOKEN": ""}])
def test_a_variable_that_is_not_set_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="environment variable TOKEN that a header of the plan refers to is not set"):
        resolve_headers(HEADERS[:1], environment)


def test_a_variable_cannot_smuggle_in_another_header() -> None:
    with pytest.raises(ValueError, match="TOKEN holds characters that a header cannot carry") as caught:
        resolve_headers(HEADERS[:1], {"TOKEN": "secret\r\nX-Evil: 1"})
    assert "secret" not in str(caught.value)
