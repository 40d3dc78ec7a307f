"""The metric page: line by line against a golden page, and what each request leaves on it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from compose.targets.tfserving_standin import families as page_of
from compose.targets.tfserving_standin.families import FAMILIES, Family, Kind
from compose.targets.tfserving_standin.metric_page import MetricPage, exported_name, six_digits
from tests.needs import need

from .calls import a_client, a_request
from .running import BODY, PAGE, PREDICT, ROW, StandIn, a_stand_in, batched, monitored

GOLDEN = Path(__file__).parent / "golden" / "metric_page.txt"
COUNT = ":tensorflow:serving:request_count"
LATENCY = ":tensorflow:serving:request_latency_count"
TIMED = re.compile(r"(_usecs|load_latency|_latency_sum|_latency_by_stage_sum|_usecs_histogram_sum)\{.*\} ")


def masked(page: str) -> str:
    """The page without what a clock decides: times, and the buckets of durations that no script sets."""
    lines = []
    for line in page.splitlines():
        name, _, _ = line.rpartition(" ")
        unsteady = TIMED.search(line) or ("_bucket" in line and re.search(r'queuing|by_stage|API="",', line))
        lines.append(f"{name} *" if unsteady and line[0] != "#" else line)
    return "\n".join(lines) + "\n"


@pytest.mark.golden
def test_the_page_after_a_known_sequence_is_the_golden_one(tmp_path: Path) -> None:
    parameters = (
        "max_batch_size { value: 4 } allowed_batch_sizes: 2 allowed_batch_sizes: 4 num_batch_threads { value: 1 }"
    )
    options = (*monitored(tmp_path), *batched(tmp_path, parameters), "--port", "free", "--latency", "constant:125ms")
    with a_stand_in(*options) as stand_in:
        assert stand_in.predict().status == 200
        assert stand_in.predict(3).status == 200
        assert stand_in.predict(5).status == 400
        with a_client(stand_in.grpc) as client:
            client.predict(a_request([ROW]), timeout=5)
        assert stand_in.get("/v1/models/m").status == 200
        assert stand_in.ask("POST", "/v1/models/other:predict", BODY).status == 404
        assert stand_in.get("/v1/nonsense").status == 400
        assert stand_in.get("/favicon.ico").status == 404
        page = stand_in.get(PAGE)
    assert page.headers["Content-Type"] == "text/plain"
    if os.environ.get("STAGELIGHT_GOLDEN") == "write":
        GOLDEN.write_text(masked(page.body))
    assert masked(page.body).splitlines() == GOLDEN.read_text().splitlines()


def test_the_golden_page_has_the_real_server_s_shape() -> None:
    lines = GOLDEN.read_text().splitlines()
    assert not [line for line in lines if line.startswith("# HELP")]
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(families) == len(set(families))
    paths = {exported_name(family.path): family.path for family in FAMILIES}
    assert families == sorted(families, key=lambda name: paths[name])
    assert f'{COUNT}{{model_name="",status="INVALID_ARGUMENT"}} 1' in lines
    assert f'{COUNT}{{model_name="m",status="INVALID_ARGUMENT"}} 1' in lines
    assert f'{COUNT}{{model_name="m",status="OK"}} 4' in lines
    assert f'{COUNT}{{model_name="other",status="NOT_FOUND"}} 1' in lines
    for labels, count in {
        'API="",entrypoint="REST"': 1,
        'API="predict",entrypoint="REST"': 2,
        'API="Predict",entrypoint="GRPC"': 1,
    }.items():
        assert f'{LATENCY}{{model_name="m",{labels}}} {count}' in lines
        buckets = [line for line in lines if line.startswith(f'{LATENCY[:-6]}_bucket{{model_name="m",{labels}')]
        assert len(buckets) == 34
    assert ":tensorflow:core:session_created{} 0" in lines


def test_promtool_reads_the_page(tmp_path: Path) -> None:
    promtool = need("promtool")
    with a_stand_in(*monitored(tmp_path), *batched(tmp_path, "")) as stand_in:
        stand_in.predict(2)
        page = stand_in.get(PAGE).body
    checked = subprocess.run([promtool, "check", "metrics"], input=page, text=True, capture_output=True, check=False)
    assert checked.returncode in {0, 3}, "3 is for lint only, and the real page is full of it"
    assert "error while linting" not in checked.stderr
    assert "text format parsing error" not in checked.stderr


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> object:
    with a_stand_in(*monitored(tmp_path_factory.mktemp("page"))) as running:
        yield running


def added(stand_in: StandIn, act: object) -> dict[str, float]:
    """What one act adds to counters and counts."""
    assert callable(act)
    before = stand_in.samples()
    act()
    after = stand_in.samples()
    changed = {name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)}
    return {name: value for name, value in changed.items() if name.startswith((COUNT, LATENCY))}


OK = {'{model_name="m",status="OK"}': 1.0}
INVALID = {'{model_name="m",status="INVALID_ARGUMENT"}': 1.0}


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", PREDICT, BODY, OK | {'{model_name="m",API="predict",entrypoint="REST"}': 1.0}),
        ("GET", "/v1/models/m/metadata", None, OK | {'{model_name="m",API="",entrypoint="REST"}': 1.0}),
        ("POST", PREDICT, "{}", INVALID),
        ("POST", "/v1/models/m:PREDICT", "{}", INVALID),
        ("GET", "/v1/models", None, {'{model_name="",status="INVALID_ARGUMENT"}': 1.0}),
        ("GET", PAGE, None, {}),
        ("GET", "/standin/counts", None, {}),
        ("GET", "/", None, {}),
    ],
)
def test_what_a_request_leaves_on_the_page(
    stand_in: StandIn, method: str, path: str, body: str | None, expected: dict[str, float]
) -> None:
    found = added(stand_in, lambda: stand_in.ask(method, path, body))
    assert {name[name.index("{") :]: value for name, value in found.items()} == expected


def test_a_preflight_has_no_model_and_a_name_needs_escaping(stand_in: StandIn) -> None:
    found = added(stand_in, lambda: stand_in.ask("OPTIONS", PREDICT, Origin="http://x"))
    assert found == {
        f'{COUNT}{{model_name="",status="OK"}}': 1,
        f'{LATENCY}{{model_name="",API="",entrypoint="REST"}}': 1,
    }
    found = added(stand_in, lambda: stand_in.get("/v1/models/a%22%5Cb"))
    assert found == {f'{COUNT}{{model_name="a\\"\\\\b",status="NOT_FOUND"}}': 1}


def test_buckets_exclude_their_upper_edge_and_sums_have_six_digits() -> None:
    page = MetricPage()
    for rows in (8, 8, 1234567):
        page.observe(page_of.INPUT_BATCH_SIZE, rows)
    name = exported_name(page_of.INPUT_BATCH_SIZE.path)
    lines = page.text().splitlines()
    assert f'{name}_bucket{{le="8"}} 0' in lines
    assert f'{name}_bucket{{le="16"}} 2' in lines
    assert f'{name}_bucket{{le="+Inf"}} 3' in lines
    assert f"{name}_sum{{}} 1.23458e+06" in lines
    assert lines.index(f"{name}_sum{{}} 1.23458e+06") == lines.index(f"{name}_count{{}} 3") - 1


def test_an_unused_page_has_type_lines_only() -> None:
    text = MetricPage().text()
    assert all(line.startswith("# TYPE :tensorflow:") for line in text.splitlines())
    late = [family for family in FAMILIES if family.late]
    assert len(late) == 3
    assert not [family for family in late if exported_name(family.path) in text]


@pytest.mark.parametrize(
    ("family", "edges"),
    [
        (page_of.REQUEST_LATENCY, "10 18 32.4 58.32 ... 1.47476e+09"),
        (page_of.QUEUING_LATENCY, "100 120 144 172.8 ... 1.09205e+06"),
        (page_of.INPUT_BATCH_SIZE, "1 2 4 8 ... 8192"),
        (page_of.GRAPH_RUN_TIME_HISTOGRAM, "1000 2000 4000 8000 ... 5.24288e+08"),
    ],
)
def test_edges_are_those_of_the_real_server(family: Family, edges: str) -> None:
    assert family.kind is Kind.HISTOGRAM
    printed = [six_digits(edge) for edge in family.edges]
    assert " ".join([*printed[:4], "...", printed[-1]]) == edges
