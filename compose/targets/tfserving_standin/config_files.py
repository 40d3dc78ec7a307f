"""Reads the real server's monitoring and batching files: protobuf text format, unknown fields refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from google.protobuf import text_format
from google.protobuf.message import Message

from ..protos import tfserving_config_pb2 as config_pb2
from .codes import Code, Failure, invalid
from .metric_page import DEFAULT_PATH

Read = TypeVar("Read", bound=Message)


@dataclass(frozen=True, slots=True)
class BatchingParameters:
    """The batching file's fields with the real server's defaults. Rows, microseconds, batches, threads."""

    max_batch_size: int = 1000
    batch_timeout_micros: int = 0
    max_enqueued_batches: int = 10
    num_batch_threads: int = 1
    allowed_batch_sizes: tuple[int, ...] = ()
    pad_variable_length_inputs: bool = False
    enable_large_batch_splitting: bool = False
    max_execution_batch_size: int = 1000


def read_monitoring(path: Path | None) -> str | None:
    """The metric page's path, or None with monitoring off. Raises Failure for a bad file."""
    if path is None:
        return None
    file = _parse(path, config_pb2.MonitoringConfig())
    if not file.prometheus_config.enable:
        return None
    page = file.prometheus_config.path or DEFAULT_PATH
    if not page.startswith("/"):
        raise invalid(f"Invalid path for the metric page: '{page}' does not start with '/'")
    return page


def read_batching(enabled: bool, path: Path | None) -> BatchingParameters | None:
    """The batching parameters, or None with batching off. Raises Failure for a bad file or one without the flag."""
    if not enabled:
        if path is not None:
            raise invalid(
                "server_options.batching_parameters_file is set without setting server_options.enable_batching to true."
            )
        return None
    file = config_pb2.BatchingParameters() if path is None else _parse(path, config_pb2.BatchingParameters())
    return check_batching(_with_defaults(file))


def check_batching(parameters: BatchingParameters) -> BatchingParameters:
    """The same parameters, or a Failure for those with which the real server does not load a model."""
    limit = parameters.max_batch_size
    if parameters.num_batch_threads < 1:
        raise invalid(f"num_batch_threads must be positive; was {parameters.num_batch_threads}")
    if limit < 1:
        raise invalid(f"input_batch_size_limit must be positive; was {limit}")
    if parameters.batch_timeout_micros < 0:
        raise invalid(f"batch_timeout_micros must be non-negative; was {parameters.batch_timeout_micros}")
    if parameters.max_enqueued_batches < 1:
        raise invalid(f"max_enqueued_batches must be positive; was {parameters.max_enqueued_batches}")
    if parameters.enable_large_batch_splitting and limit < parameters.max_execution_batch_size:
        raise invalid(
            "When enable_large_batch_splitting is true, input_batch_size_limit must be greater than or equal to "
            f"max_execution_batch_size; were {limit} and {parameters.max_execution_batch_size}"
        )
    allowed = parameters.allowed_batch_sizes
    if allowed and allowed[-1] != limit:
        raise invalid(
            f"Last entry in allowed_batch_sizes must match max_batch_size; last entry was {allowed[-1]}; "
            f"expected {limit}"
        )
    return parameters


def _with_defaults(file: config_pb2.BatchingParameters) -> BatchingParameters:
    standard = BatchingParameters(num_batch_threads=_processors())
    limit = file.max_batch_size.value if file.HasField("max_batch_size") else standard.max_batch_size
    splitting = file.enable_large_batch_splitting.value
    queue = file.max_enqueued_batches.value if file.HasField("max_enqueued_batches") else standard.max_enqueued_batches
    threads = file.num_batch_threads.value if file.HasField("num_batch_threads") else standard.num_batch_threads
    return BatchingParameters(
        max_batch_size=limit,
        batch_timeout_micros=file.batch_timeout_micros.value,
        max_enqueued_batches=1 if queue == 0 and not splitting else queue,
        num_batch_threads=threads,
        allowed_batch_sizes=tuple(file.allowed_batch_sizes),
        pad_variable_length_inputs=file.pad_variable_length_inputs,
        enable_large_batch_splitting=splitting,
        max_execution_batch_size=(
            file.max_execution_batch_size.value if splitting and file.HasField("max_execution_batch_size") else limit
        ),
    )


def _processors() -> int:
    """Processors this process may use; the real server's default number of batch threads."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parse(path: Path, message: Read) -> Read:
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        code = Code.NOT_FOUND if isinstance(error, FileNotFoundError) else Code.UNKNOWN
        raise Failure(code, f"{path}; {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise invalid(f"Invalid protobuf file: '{path}'") from error
    try:
        return text_format.Parse(text, message)
    except text_format.ParseError as error:
        raise invalid(f"Invalid protobuf file: '{path}' ({error})") from error
