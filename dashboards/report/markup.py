"""HTML out of parts: every text is escaped here and nowhere else, so that no name in a plan can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NewType

Markup = NewType("Markup", str)
"""Text that is HTML already."""


def text(plain: object) -> Markup:
    """Plain text, escaped."""
    return Markup(escape(str(plain)))


def element(name: str, *content: Markup, **attributes: str | bool) -> Markup:
    """`<name attributes>content</name>`; `cls` stands for `class`, `True` for an attribute without a value."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    return Markup(f"<{name}{written}>{''.join(content)}</{name}>")


def together(*parts: Markup) -> Markup:
    """One after the other."""
    return Markup("".join(parts))


def table(heads: Sequence[str], rows: Iterable[Sequence[Markup]], *, cls: str = "") -> Markup:
    """A table that scrolls sideways by itself when it is wider than the page."""
    head = element("tr", *(element("th", text(name)) for name in heads))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    inside = element("table", element("thead", head), element("tbody", *body), cls=cls)
    return element("div", inside, cls="scroll")


def facts(pairs: Iterable[tuple[str, Markup]]) -> Markup:
    """Names and what they are, side by side."""
    return element("dl", *(element("div", element("dt", text(name)), element("dd", value)) for name, value in pairs))


def _attribute(key: str, value: str | bool) -> str:
    name = {"cls": "class"}.get(key, key.replace("_", "-"))
    match value:
        case True:
            return f" {name}"
        case False | "":
            return ""
        case _:
            return f' {name}="{escape(str(value))}"'
