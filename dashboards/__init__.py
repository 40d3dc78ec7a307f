"""Panels as data, and one renderer each to Grafana JSON and to the HTML report."""
