"""Every metric name we expose, one module a prefix; all that controller and dashboards import from here."""
