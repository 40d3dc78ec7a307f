"""Forms batches from tasks as the real server's scheduler does: pure decisions about sizes, limits and moments."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from .codes import Code, Failure, invalid
from .config_files import BatchingParameters
from .signature import Tensors

FULL = "The batch scheduling queue to which this task was submitted is full; "


class Done(Protocol):
    """Takes a task's result: outputs or a failure, when its run began, how long it was to take, when it is due."""

    def __call__(self, outcome: Tensors | Failure, run: float, asked: float, due: float) -> None:
        """All moments are seconds of the monotonic clock."""


class Task:
    """Rows that want to run: a request, or a part of one. `deadline` is when its client has given up."""

    __slots__ = ("deadline", "done", "enqueued", "inputs", "size")

    def __init__(self, inputs: Tensors, size: int, enqueued: float, deadline: float, done: Done) -> None:
        """Moments are seconds of the monotonic clock."""
        self.inputs = inputs
        self.size = size
        self.enqueued = enqueued
        self.deadline = deadline
        self.done = done


class _Batch:
    __slots__ = ("opened", "size", "tasks")

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.size = 0
        self.opened = 0.0


class BatchQueue:
    """The queue of one signature of one version. Its last batch is open, those before it are closed and wait."""

    def __init__(self, parameters: BatchingParameters, split: Callable[[Task, list[int]], list[Task]]) -> None:
        """`split` cuts a task into parts of given sizes."""
        self._parameters = parameters
        self._split = split
        self._batches: deque[_Batch] = deque([_Batch()])

    def put(self, task: Task, now: float) -> None:
        """Queue a task. Raises Failure if it is too big (INVALID_ARGUMENT) or finds the queue full (UNAVAILABLE)."""
        self._check(task.size)
        parts = [task]
        if self._parameters.enable_large_batch_splitting and task.size > self._room():
            parts = self._split(task, self._part_sizes(task.size))
        for part in parts:
            if self._batches[-1].size + part.size > self._execution_limit():
                self._batches.append(_Batch())
            batch = self._batches[-1]
            if not batch.tasks:
                batch.opened = now
            batch.tasks.append(part)
            batch.size += part.size

    def take(self, now: float) -> list[Task] | None:
        """The next batch for a free thread, or None. The open batch goes when it is full or has waited long enough."""
        ripe = self.ripe_at()
        if len(self._batches) == 1 and ripe is not None and now >= ripe:
            self._batches.append(_Batch())
        return self._batches.popleft().tasks if len(self._batches) > 1 else None

    def ripe_at(self) -> float | None:
        """From when on `take` has a batch; None while the queue is empty."""
        first = self._batches[0]
        if len(self._batches) > 1:
            return first.opened
        if not first.tasks:
            return None
        if first.size >= self._execution_limit():
            return first.opened
        return first.opened + self._parameters.batch_timeout_micros / 1e6

    def _check(self, size: int) -> None:
        limit = self._parameters.max_batch_size
        if size > limit:
            raise invalid(f"Task size {size} is larger than maximum input batch size {limit}")
        waiting, most = len(self._batches), self._parameters.max_enqueued_batches
        if self._parameters.enable_large_batch_splitting:
            execution, tail = self._execution_limit(), self._batches[-1].size
            capacity = (most - waiting) * execution + execution - tail
            if size > capacity:
                raise Failure(
                    Code.UNAVAILABLE,
                    f"{FULL}task size is {size} but scheduling capacity is only {capacity} "
                    f"(num_enqueued_batches={waiting}, max_enqueued_batches={most}, open_batch_size={tail}, "
                    f"max_execution_batch_size={execution})",
                )
        elif self._batches[-1].size + size > limit and waiting >= most:
            raise Failure(
                Code.UNAVAILABLE, f"{FULL}currently {waiting} batches enqueued and max_enqueued_batches is {most}"
            )

    def _part_sizes(self, size: int) -> list[int]:
        """First what fits into the open batch, then full batches, then the rest."""
        sizes = [self._room()] if self._room() else []
        left = size - sum(sizes)
        while left > 0:
            sizes.append(min(left, self._execution_limit()))
            left -= sizes[-1]
        return sizes

    def _room(self) -> int:
        return self._execution_limit() - self._batches[-1].size

    def _execution_limit(self) -> int:
        if self._parameters.enable_large_batch_splitting:
            return self._parameters.max_execution_batch_size
        return self._parameters.max_batch_size
