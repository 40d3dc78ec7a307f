"""Every metric name we expose, one module a prefix; the only thing controller and dashboards import from here."""
