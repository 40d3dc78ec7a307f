"""What is wrong with a text that is not YAML at all, in words for its author."""

from __future__ import annotations

from yaml import MarkedYAMLError, YAMLError
from yaml.reader import ReaderError

_NEVER_FIRST = "@`%*&!|>"


def explain_syntax(error: YAMLError, text: str) -> tuple[int, str, str, str]:
    """Line, key (none), message and remedy for a syntax error that PyYAML found in `text`."""
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return line, "", f"holds the control character U+{ord(text[error.position]):04X}", "remove it"
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return 0, "", f"is not YAML ({error})", "correct it"
    lines = text.splitlines() or [""]
    mark = error.problem_mark
    row = lines[mark.line] if mark.line < len(lines) else ""
    found = row[mark.column : mark.column + 1]
    problem, context = str(error.problem), str(error.context or "")
    if found == "\t" or (row[: mark.column].isspace() and "\t" in row[: mark.column]):
        return mark.line + 1, "", "a tab stands where YAML wants spaces", "indent and separate with spaces"
    if "stream end" in problem or "end of stream" in problem:
        what = "a quote" if "scalar" in context else "a bracket or brace"
        opened = (error.context_mark or mark).line
        where = "here" if opened < mark.line else "here or above"
        return opened + 1, "", f"{what} is opened {where} and never closed", "close it"
    if "alias" in context or "anchor" in context or "tag" in context or (found and found in _NEVER_FIRST):
        first = row[(error.context_mark or mark).column : mark.column + 1][:1] or found
        return mark.line + 1, "", f"a value cannot start with {first}", "put it in quotes"
    if "mapping values are not allowed" in problem:
        message = "a colon stands where YAML expects none"
        return mark.line + 1, "", message, "quote the value if the colon belongs to it, or correct the indentation"
    return mark.line + 1, "", f"is not YAML here ({problem})", "correct indentation, commas and brackets"
