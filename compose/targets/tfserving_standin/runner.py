"""Runs the model: at once, or in batches on a bounded number of threads; fills the metrics of runs and queues."""

from __future__ import annotations

import asyncio
import math
import time

from . import families as page_of
from .alarms import Alarms
from .batch_queue import BatchQueue, Done, Task
from .batch_rows import Join, apart, merged, padded_size, rows_of
from .behaviour import Behaviour
from .codes import Code, Failure
from .config_files import BatchingParameters
from .metric_page import MetricPage
from .servables import Version
from .signature import Signature, Tensors

TIMED_OUT_QUEUED = "Run() timeout exceeded while waiting in batching queue"
TIMED_OUT_RUNNING = "Timed out waiting for notification"


class Runner:
    """What happens between a decoded request and its outputs. Without batching parameters every request runs alone."""

    def __init__(
        self, page: MetricPage, alarms: Alarms, behaviour: Behaviour, parameters: BatchingParameters | None
    ) -> None:
        """Needs a running event loop if it batches."""
        self._page = page
        self._alarms = alarms
        self._behaviour = behaviour
        self._parameters = parameters
        self._queues: dict[tuple[int, str], tuple[Signature, BatchQueue]] = {}
        self._turn = 0
        self._free_threads = parameters.num_batch_threads if parameters else 0
        self._pump_due = False
        self._ripe_alarm = math.inf
        self._built: set[tuple[int, str]] = set()

    def run(
        self, version: Version, signature: Signature, inputs: Tensors, start: float, timeout: float | None, done: Done
    ) -> None:
        """Run, and tell `done` as soon as the result is known when it is due. Raises Failure if it cannot be queued.

        `start` is when the request was let into service; `timeout` in seconds counts from now.
        """
        if self._parameters is None:
            self._run_alone(version, signature, inputs, start, timeout, done)
            return
        rows = rows_of(inputs)
        for _ in inputs:
            self._page.observe(page_of.INPUT_BATCH_SIZE, rows)
        now = time.monotonic()
        task = Task(inputs, rows, now, math.inf if timeout is None else now + timeout, done)
        self._queue(version, signature).put(task, now)
        if not self._pump_due:
            # Not at once: what other sockets brought in the same round belongs into the same batch.
            self._pump_due = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _run_alone(
        self, version: Version, signature: Signature, inputs: Tensors, start: float, timeout: float | None, done: Done
    ) -> None:
        asked = self._behaviour.latency(start)
        outcome, due = self._execute(version.number, signature, inputs, asked, start, timeout)
        done(outcome, start, asked, due)

    def _queue(self, version: Version, signature: Signature) -> BatchQueue:
        key = (version.number, signature.name)
        if key not in self._queues and self._parameters is not None:
            queue = BatchQueue(self._parameters, lambda task, sizes: Join(task, sizes).parts)
            self._queues[key] = (signature, queue)
        return self._queues[key][1]

    def _pump(self) -> None:
        """Give every free thread a batch, queue after queue in turn; else come back when one is ripe."""
        self._pump_due = False
        now = time.monotonic()
        while self._free_threads and (found := self._next_batch(now)) is not None:
            number, signature, tasks = found
            until = self._run_batch(number, signature, tasks, now)
            if until > now:
                self._free_threads -= 1
                self._alarms.at(until, self._thread_free)
        if self._free_threads:
            ripe = [moment for _, queue in self._queues.values() if (moment := queue.ripe_at()) is not None]
            if ripe and min(ripe) < self._ripe_alarm:
                self._ripe_alarm = min(ripe)
                self._alarms.at(self._ripe_alarm, self._on_ripe)

    def _on_ripe(self) -> None:
        self._ripe_alarm = math.inf
        self._pump()

    def _thread_free(self) -> None:
        self._free_threads += 1
        self._pump()

    def _next_batch(self, now: float) -> tuple[int, Signature, list[Task]] | None:
        keys = list(self._queues)
        for tried in range(len(keys)):
            key = keys[(self._turn + tried) % len(keys)]
            signature, queue = self._queues[key]
            tasks = queue.take(now)
            if tasks is not None:
                self._turn = (self._turn + tried + 1) % len(keys)
                return key[0], signature, tasks
        return None

    def _run_batch(self, number: int, signature: Signature, tasks: list[Task], now: float) -> float:
        """Run one batch, tell its tasks, and say when its thread is free again."""
        for task in tasks:
            self._page.observe(page_of.QUEUING_LATENCY, int((now - task.enqueued) * 1e6), ("",))
        if all(task.deadline <= now for task in tasks):
            return _all_fail(tasks, Failure(Code.RESOURCE_EXHAUSTED, TIMED_OUT_QUEUED), now, 0.0, now)
        try:
            batch, rows = self._batch(signature, tasks)
        except Failure as failure:
            return _all_fail(tasks, failure, now, 0.0, now)
        asked = self._behaviour.latency(now)
        deadline = max(task.deadline for task in tasks)
        outcome, due = self._execute(number, signature, batch, asked, now, deadline - now)
        self._page.count(page_of.WRAPPED_RUN_COUNT)
        due = self._behaviour.released(due)
        if isinstance(outcome, Failure):
            return _all_fail(tasks, outcome, now, asked, due)
        try:
            shares = apart(outcome, tasks, rows)
        except Failure as failure:
            return _all_fail(tasks, failure, now, asked, due)
        for task, share in zip(tasks, shares, strict=True):
            task.done(share, now, asked, due)
        return due

    def _batch(self, signature: Signature, tasks: list[Task]) -> tuple[Tensors, int]:
        parameters = self._parameters or BatchingParameters()
        size = sum(task.size for task in tasks)
        rows = padded_size(size, parameters.allowed_batch_sizes)
        self._page.observe(page_of.PADDING_SIZE, rows - size, (str(rows),))
        self._page.observe(page_of.PROCESSED_BATCH_SIZE, rows)
        padding = rows - size
        batch = merged(signature, tasks, padding, pad_variable_length=parameters.pad_variable_length_inputs)
        return batch, len(next(iter(batch.values())))

    def _execute(
        self, number: int, signature: Signature, inputs: Tensors, asked: float, run: float, timeout: float | None
    ) -> tuple[Tensors | Failure, float]:
        """Compute the outputs now and say when they are due: `asked` seconds after `run`, or at the timeout."""
        began = time.monotonic()
        try:
            outputs: Tensors | Failure = signature.compute(inputs)
        except Failure as failure:
            outputs = failure
        self._note_run(number, signature, inputs, outputs, max(time.monotonic() - began, asked))
        if timeout is not None and asked > timeout:
            return Failure(Code.DEADLINE_EXCEEDED, TIMED_OUT_RUNNING), run + timeout
        return outputs, run + asked

    def _note_run(
        self, number: int, signature: Signature, inputs: Tensors, outputs: Tensors | Failure, seconds: float
    ) -> None:
        page, micros = self._page, int(seconds * 1e6)
        page.count(page_of.DIRECT_SESSION_RUNS)
        if (number, signature.name) not in self._built:
            self._built.add((number, signature.name))
            page.count(page_of.GRAPH_BUILD_CALLS)
            page.count(page_of.GRAPH_BUILD_TIME, by=micros)
        page.count(page_of.GRAPH_RUNS)
        page.count(page_of.GRAPH_RUN_TIME, by=micros)
        page.observe(page_of.GRAPH_RUN_TIME_HISTOGRAM, micros)
        page.observe(page_of.GRAPH_INPUT_BYTES, sum(tensor.nbytes for tensor in inputs.values()))
        if not isinstance(outputs, Failure):
            page.observe(page_of.GRAPH_OUTPUT_BYTES, sum(tensor.nbytes for tensor in outputs.values()))


def _all_fail(tasks: list[Task], failure: Failure, run: float, asked: float, due: float) -> float:
    for task in tasks:
        task.done(failure, run, asked, due)
    return due
