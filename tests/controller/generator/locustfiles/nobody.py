# mypy: ignore-errors
"""No user class at all."""

NUMBER = 1
