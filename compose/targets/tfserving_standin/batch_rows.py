"""Puts the rows of several tasks into one batch and takes the results apart again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .batch_queue import Task
from .codes import Code, Failure, invalid
from .signature import Signature, Tensor, Tensors


def rows_of(inputs: Tensors) -> int:
    """The number of rows of a request. Raises Failure if its inputs disagree or have none."""
    if not inputs:
        raise invalid("Batching Run() must have at least one input tensor")
    if any(tensor.ndim == 0 for tensor in inputs.values()):
        raise invalid("Batching Run() input tensors must have at least one dimension")
    sizes = {len(tensor) for tensor in inputs.values()}
    if len(sizes) > 1:
        raise invalid("Batching Run() input tensors must have equal 0th-dimension size")
    return sizes.pop()


def padded_size(size: int, allowed: Sequence[int]) -> int:
    """The first allowed size that holds `size` rows; `size` itself if none does or none is named."""
    return next((candidate for candidate in allowed if candidate >= size), size)


def merged(signature: Signature, tasks: Sequence[Task], padding: int, *, pad_variable_length: bool) -> Tensors:
    """One tensor for each input, with `padding` copies of a row at the end. Raises Failure for shapes that differ."""
    batch: Tensors = {}
    for name, info in signature.inputs.items():
        parts = [task.inputs[name] for task in tasks]
        shape = parts[0].shape[1:]
        if any(part.shape[1:] != shape for part in parts):
            if not pad_variable_length:
                raise Failure(
                    Code.FAILED_PRECONDITION,
                    f"Tensors with name '{info.feed}' from different tasks have different shapes and padding is turned "
                    "off. Set pad_variable_length_inputs to true, or ensure that all tensors with the same name have "
                    "equal dimensions starting with the first dim.",
                )
            parts = _stretched(parts)
        if padding and len(parts[-1]):
            parts.append(np.repeat(parts[-1][:1], padding, axis=0))
        batch[name] = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return batch


def apart(outputs: Tensors, tasks: Sequence[Task], rows: int) -> list[Tensors]:
    """Each task's share of the outputs of a batch of `rows` rows. Raises Failure if an output has other rows."""
    if any(tensor.ndim == 0 for tensor in outputs.values()):
        raise Failure(Code.FAILED_PRECONDITION, "Batched output tensor has 0 dimensions")
    if any(len(tensor) != rows for tensor in outputs.values()):
        raise Failure(
            Code.FAILED_PRECONDITION,
            "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input "
            "tensors",
        )
    shares: list[Tensors] = []
    begin = 0
    for task in tasks:
        end = begin + task.size
        shares.append({name: tensor[begin:end] for name, tensor in outputs.items()})
        begin = end
    return shares


def _stretched(parts: Sequence[Tensor]) -> list[Tensor]:
    """All parts brought to the largest size in every dimension but the first, filled with each part's first value."""
    ranks = {part.ndim for part in parts}
    if len(ranks) > 1:
        raise invalid("Only tensors of one rank can be padded to a common shape.")
    widest = [max(part.shape[axis] for part in parts) for axis in range(1, parts[0].ndim)]
    stretched: list[Tensor] = []
    for part in parts:
        missing = [(0, 0), *((0, wide - have) for wide, have in zip(widest, part.shape[1:], strict=True))]
        if any(after for _, after in missing) and part.size == 0:
            raise invalid("Got empty tensor in batch of non-empty tensors.")
        fill = part.flat[0] if part.size else 0
        stretched.append(np.pad(part, missing, constant_values=fill))
    return stretched


class Join:
    """Collects the parts of a split task and hands the whole to its client when the last one is there."""

    def __init__(self, task: Task, sizes: Sequence[int]) -> None:
        """Cut `task` into parts of the given sizes, which add up to its own."""
        self._task = task
        self._results: list[Tensors | None] = [None] * len(sizes)
        self._failure: Failure | None = None
        self._left = len(sizes)
        self._due = 0.0
        self.parts: list[Task] = []
        begin = 0
        for index, size in enumerate(sizes):
            inputs = {name: tensor[begin : begin + size] for name, tensor in task.inputs.items()}
            self.parts.append(Task(inputs, size, task.enqueued, task.deadline, _Part(self, index)))
            begin += size

    def put(self, index: int, outcome: Tensors | Failure, run: float, asked: float, due: float) -> None:
        """Take the result of one part; the whole fails with the first failure and is due with the last part."""
        self._due = max(self._due, due)
        if isinstance(outcome, Failure):
            self._failure = self._failure or outcome
        else:
            self._results[index] = outcome
        self._left -= 1
        if self._left:
            return
        if self._failure is not None:
            self._task.done(self._failure, run, asked, self._due)
            return
        results = [result for result in self._results if result is not None]
        whole = {name: np.concatenate([result[name] for result in results]) for name in results[0]}
        self._task.done(whole, run, asked, self._due)


class _Part:
    __slots__ = ("_index", "_join")

    def __init__(self, join: Join, index: int) -> None:
        self._join = join
        self._index = index

    def __call__(self, outcome: Tensors | Failure, run: float, asked: float, due: float) -> None:
        self._join.put(self._index, outcome, run, asked, due)
