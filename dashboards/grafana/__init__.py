"""The renderer to Grafana's dashboard JSON: grafanalib, then what grafanalib cannot say or says wrongly."""
