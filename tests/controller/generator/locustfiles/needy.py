# mypy: ignore-errors
"""Needs what is not there."""

import a_package_that_nobody_has  # noqa: F401
