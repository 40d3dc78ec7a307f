"""The renderer to the HTML report: a run's record and the panels over its time, in one file that needs nothing.

`python -m dashboards.report --run FOLDER` reads `record.json`, takes the series from a Prometheus or from
`panels.json.gz`, and writes `report.html`.
"""
