"""The boards' variables, and label matchers that use them."""

from __future__ import annotations

from controller import names as loadtest
from dashboards import recorded, tfserving
from dashboards.board import Variable
from dashboards.promql import label_values, matches
from exporters.names import loadgen

DATASOURCE = "datasource"
"""The variable that every query's data source comes from."""

PLAN = Variable("plan", "Plan", label_values(loadtest.RUN_INFO, "plan"))
GENERATOR = Variable("generator", "Generator", label_values(loadgen.IN_FLIGHT, "instance"))
SERVER = Variable("server", "Server", label_values(tfserving.REQUESTS, "instance"))
MODEL = Variable("model", "Model", label_values(tfserving.REQUESTS, "model_name"))
HOST = Variable("host", "Host", label_values(recorded.CPU_BUSY, "instance"))

RUN = Variable("run", "Run", label_values(loadtest.RUN_INFO, "run_id", matches("plan", f"${PLAN.name}")))
WORKER = Variable("worker", "Worker", label_values(loadgen.SATURATION, "worker"))
CONTROLLER = Variable("controller", "Controller", label_values(loadtest.RUN_ACTIVE, "instance"))
GPU = Variable("gpu", "GPU", label_values(recorded.GPU_BUSY, "uuid"))

OF_PLAN = matches("plan", f"${PLAN.name}")
OF_GENERATOR = matches("instance", f"${GENERATOR.name}")
OF_SERVER = matches("instance", f"${SERVER.name}")
OF_MODEL = matches("model_name", f"${MODEL.name}")
OF_HOST = matches("instance", f"${HOST.name}")
OF_RUN = matches("run_id", f"${RUN.name}")
OF_WORKER = matches("worker", f"${WORKER.name}")
OF_CONTROLLER = matches("instance", f"${CONTROLLER.name}")
OF_GPU = matches("uuid", f"${GPU.name}")
