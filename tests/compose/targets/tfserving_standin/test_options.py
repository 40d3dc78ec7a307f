"""The command line: what it takes, and one sentence for what it does not."""

from __future__ import annotations

import pytest

from compose.targets.tfserving_standin.options import FREE, OFF, parse_options


def test_flags_are_written_as_for_the_real_server() -> None:
    options = parse_options(["--port=8500", "--rest_api_port=8502", "--model_name=resnet", "--enable_batching=true"])
    assert (options.grpc_port, options.rest_port, options.model_name) == (8500, 8502, "resnet")
    assert options.enable_batching
    assert parse_options(["--enable_batching"]).enable_batching
    assert not parse_options(["--enable_batching=false"]).enable_batching
    assert parse_options(["--rest_api_num_threads=64", "--grpc_max_threads", "9"]).timeout == 30.0
    assert parse_options(["--rest_api_timeout_in_ms=0"]).timeout is None


def test_ports_can_be_free_or_off() -> None:
    options = parse_options([])
    assert (options.rest_port, options.grpc_port, options.address) == (8501, OFF, "127.0.0.1")
    assert parse_options(["--port", "0"]).grpc_port == OFF
    assert parse_options(["--port", "free"]).grpc_port == FREE
    assert parse_options(["--rest_api_port", "0"]).rest_port == FREE


def test_a_whole_script_fits_on_the_command_line() -> None:
    script = parse_options(
        [
            *("--latency", "lognormal:median=5ms,sigma=0.5", "--capacity", "concurrency=3,rate=50/s", "--seed", "9"),
            *("--phase", "from=1s,for=2s,uniform:low=1ms,high=2ms", "--phase", "from=5s,for=1s,constant:3ms"),
            *("--freeze", "at=1s,for=1s", "--errors", "code=INTERNAL,share=0.5", "--load", "version=2,at=3s,takes=1s"),
        ]
    ).script
    assert script.latency.quantile(0.5) == pytest.approx(0.005)
    assert (script.capacity.concurrency, script.capacity.rate, script.seed) == (3, 50.0, 9)
    assert [(phase.start, phase.latency.quantile(0.5)) for phase in script.phases] == [(1.0, 0.0015), (5.0, 0.003)]
    assert (script.freezes[0].at, script.errors[0].share, script.loads[0].version) == (1.0, 0.5, 2)


def test_versions_and_labels() -> None:
    options = parse_options(["--versions", "3,1,3", "--version_labels", "stable=1,canary=3"])
    assert options.versions == (1, 3)
    assert options.labels == {"stable": 1, "canary": 3}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--latency", "gamma:1"], "the script cannot be used"),
        (["--phase", "from=1s"], "is not like from=10s,for=5s,constant:20ms"),
        (["--rest_api_port", "99999"], "is not a port"),
        (["--versions", "one"], "is not a list of version numbers"),
        (["--version_labels", "stable"], "is not a list of labels"),
        (["--enable_batching=maybe"], "is neither true nor false"),
        (["--port", "5000", "--rest_api_port", "5000"], "gRPC and REST need a port each"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(arguments)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
