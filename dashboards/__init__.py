"""Panels as data, and one renderer each to Grafana JSON and to the HTML report."""

from dashboards.files import write
from dashboards.queries import allowed_empty, expressions

__all__ = ["allowed_empty", "expressions", "write"]
