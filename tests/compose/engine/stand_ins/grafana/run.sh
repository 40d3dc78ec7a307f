#!/bin/bash
export PYTHONPATH=/opt/double PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
exec /opt/stagelight/bin/python -m tests.compose.engine.grafana_server
