"""The real server's two files: what they mean, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from compose.targets.tfserving_standin.codes import Code, Failure
from compose.targets.tfserving_standin.config_files import BatchingParameters, read_batching, read_monitoring


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.config"


def test_the_whole_batching_file(path: Path) -> None:
    path.write_text(
        """
        max_batch_size { value: 32 }
        batch_timeout_micros { value: 2000 }
        num_batch_threads { value: 4 }
        max_enqueued_batches { value: 100 }
        thread_pool_name { value: "pool" }
        allowed_batch_sizes: 8
        allowed_batch_sizes: 32  # the last one must be the largest
        pad_variable_length_inputs: true
        """
    )
    assert read_batching(True, path) == BatchingParameters(32, 2000, 100, 4, (8, 32), True, False, 32)


def test_defaults_are_those_of_the_real_server(path: Path) -> None:
    path.write_text("")
    for found in (read_batching(True, path), read_batching(True, None)):
        assert found is not None
        assert (found.max_batch_size, found.batch_timeout_micros, found.max_enqueued_batches) == (1000, 0, 10)
        assert found.num_batch_threads >= 1
    path.write_text("max_enqueued_batches { value: 0 }")
    found = read_batching(True, path)
    assert found is not None
    assert found.max_enqueued_batches == 1, "the real server rewrites a queue of none to one"
    assert read_batching(False, None) is None


@pytest.mark.parametrize(
    ("content", "page"),
    [
        ("prometheus_config { enable: true }", "/monitoring/prometheus/metrics"),
        ('prometheus_config { enable: true, path: "/metrics" }', "/metrics"),
        ("prometheus_config { enable: false }", None),
        ("", None),
    ],
)
def test_the_monitoring_file_names_the_page(path: Path, content: str, page: str | None) -> None:
    path.write_text(content)
    assert read_monitoring(path) == page
    assert read_monitoring(None) is None


MONITORING_FAULTS = [
    "prometheus { enable: true }",
    'prometheus_config { enable: true path: "/metrics" port: 8080 }',
    "prometheus_config { enable: ",
    'prometheus_config { enable: true path: "metrics" }',
]
BATCHING_FAULTS = [
    ("max_batch_size: 32", "Invalid protobuf file"),
    ("max_batch_size { value: 32", "Invalid protobuf file"),
    ("allowed_batch_sizes: 8", "last entry was 8; expected 1000"),
    ("num_batch_threads { value: 0 }", "num_batch_threads must be positive; was 0"),
    ("max_batch_size { value: 0 }", "input_batch_size_limit must be positive; was 0"),
    ("batch_timeout_micros { value: -1 }", "batch_timeout_micros must be non-negative; was -1"),
    ("enable_large_batch_splitting { value: true } max_execution_batch_size { value: 2000 }", "greater than or equal"),
]


@pytest.mark.parametrize("content", MONITORING_FAULTS)
def test_a_wrong_monitoring_file_is_refused(path: Path, content: str) -> None:
    path.write_text(content)
    with pytest.raises(Failure) as raised:
        read_monitoring(path)
    assert raised.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize(("content", "complaint"), BATCHING_FAULTS)
def test_a_wrong_batching_file_is_refused(path: Path, content: str, complaint: str) -> None:
    path.write_text(content)
    with pytest.raises(Failure, match=complaint) as raised:
        read_batching(True, path)
    assert raised.value.code is Code.INVALID_ARGUMENT


def test_a_batching_file_needs_the_flag_and_a_file_must_be_there(path: Path) -> None:
    with pytest.raises(Failure, match=r"without setting server_options\.enable_batching to true"):
        read_batching(False, path)
    with pytest.raises(Failure) as raised:
        read_monitoring(path)
    assert raised.value.code is Code.NOT_FOUND
