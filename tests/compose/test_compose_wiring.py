"""The parts of the composition name each other rightly: services, ports, paths, models, boards."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from compose.targets.tfserving_standin.config_files import read_batching, read_monitoring
from controller.cli.serve import load_all, plan_files
from controller.edges.grafana_credential import TokenFile
from controller.plans.loader import load_plan
from controller.plans.plan import Plan
from controller.settings import FORMS, load_settings
from tests.compose.composition import FOLDER, ROOT, Json, by_ourselves, environment, limits, mounts, ports

SERVICES: Json = by_ourselves()["services"]
PROMETHEUS: Json = yaml.safe_load((ROOT / "prometheus/prometheus.yml").read_text())
TARGETS = sorted((FOLDER / "prometheus").glob("*/*.json"))
AT_RUN_TIME = "loadgen"
"""The job whose targets come and go with each run."""
LISTENS = {
    "controller": 9690, "exporter": 9692, "exporter-gpu": 9692, "exporter-gpu-demo": 9692,
    "tfserving": 8501, "prometheus": 9090,
    "alertmanager": 9093,
}  # fmt: skip
"""Where each service answers Prometheus, as its command line says; see the test for that."""


def flags(service: str) -> dict[str, str]:
    """The `--name=value` words of a service's command."""
    words = [word.partition("=") for word in SERVICES[service]["command"] if word.startswith("--") and "=" in word]
    return {name.removeprefix("--"): value for name, _, value in words}


def plan() -> Plan:
    return load_plan(FOLDER / "plans/compose.yaml")


def test_every_job_has_targets_but_the_one_that_comes_with_a_run() -> None:
    jobs = {job["job_name"]: job["file_sd_configs"][0]["files"] for job in PROMETHEUS["scrape_configs"]}
    assert {name: f"targets/{name}.json" for name in jobs} == {name: found[0] for name, found in jobs.items()}
    placed = {path.stem for path in (FOLDER / "prometheus/targets").glob("*.json")}
    assert placed == (jobs.keys() - {AT_RUN_TIME}) | {"alertmanager"}


@pytest.mark.parametrize("profile", ["gpu", "gpu-demo"])
def test_each_profile_asks_its_own_exporter_instead(profile: str) -> None:
    exporter, prepare = SERVICES[f"exporter-{profile}"], SERVICES[f"prepare-{profile}"]
    assert exporter["profiles"] == prepare["profiles"] == [profile]
    assert prepare["command"][1:3] == [f"/opt/stagelight/prometheus/targets{more}" for more in ("", f"-{profile}")]
    (group,) = json.loads((FOLDER / f"prometheus/targets-{profile}/exporter.json").read_text())
    assert group["targets"] == [f"exporter-{profile}:9692"]


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_target_is_a_service_and_the_port_on_which_it_listens(path: Path) -> None:
    for group in json.loads(path.read_text()):
        assert set(group) == {"targets", "labels"}
        for target in group["targets"]:
            host, _, port = target.rpartition(":")
            service = "prometheus" if host == "127.0.0.1" else host
            assert int(port) == LISTENS[service]
            assert service in SERVICES


def test_services_listen_where_they_are_asked() -> None:
    assert SERVICES["exporter"]["command"][-1] == f"0.0.0.0:{LISTENS['exporter']}"
    assert SERVICES["exporter-gpu"]["command"][-1] == f"0.0.0.0:{LISTENS['exporter-gpu']}"
    assert SERVICES["exporter-gpu-demo"]["command"][-1] == f"0.0.0.0:{LISTENS['exporter-gpu-demo']}"
    assert environment(SERVICES["controller"])["STAGELIGHT_LISTEN"] == f"0.0.0.0:{LISTENS['controller']}"
    assert flags("tfserving")["rest_api_port"] == str(LISTENS["tfserving"])
    for name in ("prometheus", "alertmanager"):
        assert flags(name)["web.listen-address"] == f"0.0.0.0:{LISTENS[name]}"
    for name, service in SERVICES.items():
        inside = {int(port) for _, _, port in ports(service)}
        assert inside <= {LISTENS.get(name), 8500, 3000}


def test_prometheus_finds_its_files_where_they_are_mounted() -> None:
    mounted = {mount["target"]: mount["source"] for mount in mounts(SERVICES["prometheus"])}
    configuration = Path(flags("prometheus")["config.file"])
    assert mounted[str(configuration)] == "../prometheus/prometheus.yml"
    for pattern in PROMETHEUS["rule_files"]:
        folder, _, files = pattern.partition("/")
        assert mounted[str(configuration.parent / folder)] == f"../prometheus/{folder}"
        assert list((ROOT / "prometheus" / folder).glob(files)) != []
    assert mounted[str(configuration.parent / "targets")] == "discovery"
    assert mounted[flags("prometheus")["storage.tsdb.path"]] == "prometheus"


def test_the_controller_understands_its_settings() -> None:
    settings = load_settings(None, environment(SERVICES["controller"]))
    assert settings.listen == ("0.0.0.0", LISTENS["controller"])
    assert (settings.prometheus_url, settings.grafana_url) == ("http://prometheus:9090", "http://grafana:3000")
    assert settings.credential() == TokenFile(Path("/var/lib/stagelight/token/token"))
    unknown = {name for name in environment(SERVICES["controller"]) if name.startswith("STAGELIGHT_")}
    assert unknown <= {f"STAGELIGHT_{name.upper()}" for name in FORMS}


def test_the_controller_writes_targets_where_prometheus_reads_them() -> None:
    mounted = {mount["target"]: mount["source"] for mount in mounts(SERVICES["controller"])}
    told = environment(SERVICES["controller"])
    assert mounted[told["STAGELIGHT_DISCOVERY"]] == "discovery"
    assert mounted[told["STAGELIGHT_RUNS"]] == "runs"
    assert mounted[str(Path(told["STAGELIGHT_GRAFANA_TOKEN_FILE"]).parent)] == "grafana-token"


def test_addresses_in_variables_are_services_with_the_ports_inside() -> None:
    inside = {"prometheus": 9090, "grafana": 3000}
    for name in ("controller", "grafana"):
        for variable, value in environment(SERVICES[name]).items():
            if variable.endswith("_URL"):
                parts = urlsplit(value)
                assert inside[str(parts.hostname)] == parts.port, variable


def test_the_plan_loads_and_aims_at_the_composed_server() -> None:
    target = plan().target
    rest = urlsplit(target.rest)
    assert (rest.hostname, rest.port) == ("tfserving", LISTENS["tfserving"])
    for name in ("controller", "loadgen-worker"):
        allowed = load_settings(None, environment(SERVICES[name])).allow_targets
        assert allowed == (f"{rest.hostname!s}:{rest.port}",)
    assert target.model == flags("tfserving")["model_name"]
    assert plan().workload.payloads.from_model
    assert plan().remote_workers is None
    assert plan().workers == 0, "the load comes from loadgen-worker, whose cores are its own"
    assert plan().schedule is not None


def test_the_controller_serves_that_plan() -> None:
    verb, at_once, served = SERVICES["controller"]["command"]
    assert (verb, at_once) == ("serve", "--now"), "the first run begins with `up`, not with the next full five minutes"
    words = SERVICES["prepare"]["command"]
    source, copy = words[words.index("--plan") + 1 :][:2]
    assert (copy, source) == (served, "/plans/compose.yaml")
    for name, folder in (("controller", Path(served).parent), ("prepare", Path(served).parent)):
        assert {mount["target"]: mount["source"] for mount in mounts(SERVICES[name])}[str(folder)] == "plan"
    assert load_all(plan_files([FOLDER / "plans" / Path(source).name])) == [plan()]


def test_workers_and_controller_share_address_and_secret() -> None:
    told, words = environment(SERVICES["controller"]), SERVICES["loadgen-worker"]["command"]
    port = told["STAGELIGHT_GENERATOR_BIND"].rpartition(":")[2]
    assert words[words.index("--master") + 1] == f"controller:{port}"
    assert told["STAGELIGHT_WORKER_HOSTS"] == "loadgen-worker"
    secret = words[words.index("--secret-file") + 1]
    assert secret == told["STAGELIGHT_WORKER_SECRET_FILE"]
    prepared = SERVICES["prepare"]["command"]
    assert secret == prepared[prepared.index("--worker-secret") + 1]
    holders = {name for name, each in SERVICES.items() if any(m["source"] == "worker-secret" for m in mounts(each))}
    assert holders == {"prepare", "controller", "loadgen-worker"}
    beat = words[words.index("--heartbeat") + 1]
    assert beat in SERVICES["loadgen-worker"]["healthcheck"]["test"][-1]
    assert beat.startswith("/tmp/")


def test_the_server_gets_its_model_and_files_from_the_mounts() -> None:
    mounted = {mount["target"]: FOLDER / mount["source"] for mount in mounts(SERVICES["tfserving"])}
    base = Path(flags("tfserving")["model_base_path"])
    versions = {path.name for path in (mounted[str(base.parent)] / base.name).iterdir()}
    assert versions == {"1", "2"}
    assert mounted[flags("tfserving")["batching_parameters_file"]].is_file()
    assert mounted[flags("tfserving")["monitoring_config_file"]].is_file()


def test_the_monitoring_file_serves_the_page_that_prometheus_scrapes() -> None:
    job = next(each for each in PROMETHEUS["scrape_configs"] if each["job_name"] == "tfserving")
    page = read_monitoring(FOLDER / "tfserving/monitoring.config")
    assert page == job["metrics_path"]
    assert f"GET {page} " in SERVICES["tfserving"]["healthcheck"]["test"][-1]


def test_the_batching_file_fits_the_server() -> None:
    batching = read_batching(True, FOLDER / "tfserving/batching.config")
    assert batching is not None
    assert batching.num_batch_threads <= float(limits(SERVICES["tfserving"])["cpus"])
    for flag in ("rest_api_num_threads", "grpc_max_threads"):
        assert int(flags("tfserving")[flag]) >= 2 * batching.max_batch_size
    assert list(batching.allowed_batch_sizes) == sorted(set(batching.allowed_batch_sizes))


def test_grafana_finds_its_files_and_starts_on_a_board_of_ours() -> None:
    told = environment(SERVICES["grafana"])
    mounted = {mount["target"]: FOLDER / mount["source"] for mount in mounts(SERVICES["grafana"])}
    home = Path(told["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert (mounted[str(home.parent)] / home.name).is_file()
    assert mounted[told["STAGELIGHT_DASHBOARDS"]] == mounted[str(home.parent)]
    wanted: set[str] = set()
    for path in mounted["/etc/grafana/provisioning"].glob("*/*.yml"):
        lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
        wanted |= set(re.findall(r"(?<!\$)\$\{?([A-Z][A-Z_]+)", "\n".join(lines)))
    assert wanted <= told.keys()


def test_a_visitor_may_look_and_nothing_else() -> None:
    told: dict[str, Any] = dict(environment(SERVICES["grafana"]))
    assert told["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert told["GF_USERS_VIEWERS_CAN_EDIT"] == told["GF_USERS_ALLOW_SIGN_UP"] == "false"
    assert told["GF_SECURITY_ADMIN_PASSWORD__FILE"].startswith("/run/stagelight/admin/")


def test_only_those_who_need_the_admin_password_can_read_it() -> None:
    holders = {
        name
        for name, service in SERVICES.items()
        if any(mount["source"] == "grafana-admin" for mount in mounts(service))
    }
    assert holders == {"prepare", "prepare-gpu", "prepare-gpu-demo", "grafana", "grafana-token"}
    ours = SERVICES["prepare"]["user"].partition(":")[2]
    assert SERVICES["grafana"]["group_add"] == [ours]
