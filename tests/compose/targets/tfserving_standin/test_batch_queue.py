"""Which batches form when: rows of numbers, no clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compose.targets.tfserving_standin.batch_queue import BatchQueue, Task
from compose.targets.tfserving_standin.batch_rows import Join, apart, merged, padded_size, rows_of
from compose.targets.tfserving_standin.codes import Code, Failure
from compose.targets.tfserving_standin.config_files import BatchingParameters
from compose.targets.tfserving_standin.model import signatures
from compose.targets.tfserving_standin.signature import Tensors

PARAMETERS = BatchingParameters(max_batch_size=4, batch_timeout_micros=1000, max_enqueued_batches=2)


class Result:
    """Remembers what a task was told."""

    def __init__(self) -> None:
        self.outcome: Tensors | Failure | None = None
        self.due = 0.0

    def __call__(self, outcome: Tensors | Failure, run: float, asked: float, due: float) -> None:  # noqa: ARG002
        self.outcome, self.due = outcome, due


def a_task(size: int, first: float = 0.0) -> Task:
    rows = np.arange(first, first + size, dtype=np.float32).reshape(size, 1)
    return Task({"x": rows}, size, 0.0, float("inf"), Result())


def a_queue(**changes: int | bool) -> BatchQueue:
    parameters = replace(PARAMETERS, **changes)  # type: ignore[arg-type]
    return BatchQueue(parameters, lambda task, sizes: Join(task, sizes).parts)


def sizes(tasks: list[Task] | None) -> list[int] | None:
    return None if tasks is None else [task.size for task in tasks]


def refused(queue: BatchQueue, size: int) -> tuple[Code, str]:
    with pytest.raises(Failure) as raised:
        queue.put(a_task(size), 0.0)
    return raised.value.code, raised.value.message


def test_an_open_batch_goes_when_its_time_is_up() -> None:
    queue = a_queue()
    queue.put(a_task(1), 10.0)
    queue.put(a_task(2), 10.0005)
    assert queue.ripe_at() == pytest.approx(10.001)
    assert queue.take(10.0009) is None
    assert sizes(queue.take(10.0011)) == [1, 2]
    assert queue.ripe_at() is None


def test_a_full_batch_goes_at_once_and_a_task_that_does_not_fit_closes_it() -> None:
    queue = a_queue()
    queue.put(a_task(4), 10.0)
    assert sizes(queue.take(10.0)) == [4]
    queue.put(a_task(3), 20.0)
    queue.put(a_task(2), 20.0)
    assert sizes(queue.take(20.0)) == [3]
    assert queue.take(20.0) is None
    assert sizes(queue.take(20.002)) == [2]


def test_without_a_timeout_what_is_there_goes() -> None:
    queue = a_queue(batch_timeout_micros=0)
    queue.put(a_task(1), 10.0)
    assert sizes(queue.take(10.0)) == [1]


def test_a_request_larger_than_a_batch_is_an_invalid_argument() -> None:
    assert refused(a_queue(), 5) == (
        Code.INVALID_ARGUMENT,
        "Task size 5 is larger than maximum input batch size 4",
    )


def test_a_full_queue_is_unavailable_until_a_batch_is_taken() -> None:
    queue = a_queue()
    for _ in range(2):
        queue.put(a_task(4), 0.0)
    code, message = refused(queue, 1)
    assert code is Code.UNAVAILABLE
    assert message == (
        "The batch scheduling queue to which this task was submitted is full; currently 2 batches enqueued and "
        "max_enqueued_batches is 2"
    )
    assert sizes(queue.take(0.0)) == [4]
    queue.put(a_task(1), 0.0)


def test_splitting_fills_the_open_batch_first() -> None:
    queue = a_queue(
        enable_large_batch_splitting=True, max_batch_size=20, max_execution_batch_size=4, max_enqueued_batches=4
    )
    queue.put(a_task(3), 0.0)
    queue.put(a_task(7), 0.0)
    assert [sizes(queue.take(0.0)) for _ in range(3)] == [[3, 1], [4], None]
    assert sizes(queue.take(1.0)) == [2]


def test_splitting_counts_capacity_in_rows() -> None:
    queue = a_queue(enable_large_batch_splitting=True, max_batch_size=20, max_execution_batch_size=4)
    queue.put(a_task(3), 0.0)
    code, message = refused(queue, 6)
    assert code is Code.UNAVAILABLE
    assert message.endswith(
        "task size is 6 but scheduling capacity is only 5 (num_enqueued_batches=1, max_enqueued_batches=2, "
        "open_batch_size=3, max_execution_batch_size=4)"
    )
    queue.put(a_task(5), 0.0)


def test_a_split_task_gets_its_rows_back_in_order_when_the_last_part_is_due() -> None:
    task = a_task(5)
    parts = Join(task, [1, 3, 1]).parts
    for part, due in ((parts[2], 3.0), (parts[0], 9.0), (parts[1], 5.0)):
        part.done({"y": part.inputs["x"] * 10}, 0.0, 0.0, due)
    result = task.done
    assert isinstance(result, Result)
    assert isinstance(result.outcome, dict)
    assert result.outcome["y"].ravel().tolist() == [0, 10, 20, 30, 40]
    assert result.due == 9.0


def test_a_split_task_fails_with_its_first_failing_part() -> None:
    task = a_task(2)
    parts = Join(task, [1, 1]).parts
    parts[0].done(Failure(Code.INTERNAL, "no"), 0.0, 0.0, 1.0)
    parts[1].done({"y": parts[1].inputs["x"]}, 0.0, 0.0, 2.0)
    assert isinstance(task.done, Result)
    assert isinstance(task.done.outcome, Failure)


@pytest.mark.parametrize(("size", "padded"), [(1, 2), (2, 2), (3, 8), (8, 8), (9, 9)])
def test_batches_are_padded_to_the_next_allowed_size(size: int, padded: int) -> None:
    assert padded_size(size, (2, 8)) == padded
    assert padded_size(size, ()) == size


def rows(*lengths: int) -> list[Task]:
    tensors = [np.full((1, length), float(length), dtype=np.float32) for length in lengths]
    return [Task({"steps": tensor}, 1, 0.0, 1.0, Result()) for tensor in tensors]


def test_different_shapes_fail_the_batch_unless_they_are_padded() -> None:
    signature = signatures(1)["sequence"]
    with pytest.raises(Failure) as raised:
        merged(signature, rows(2, 3), 0, pad_variable_length=False)
    assert raised.value.code is Code.FAILED_PRECONDITION
    assert "padding is turned off" in raised.value.message
    padded = merged(signature, rows(2, 3), 1, pad_variable_length=True)
    assert padded["steps"].tolist() == [[2, 2, 2], [3, 3, 3], [3, 3, 3]]


def test_padding_repeats_a_row_and_is_not_given_back() -> None:
    batch = merged(signatures(1)["sequence"], rows(2, 2), 2, pad_variable_length=False)
    assert batch["steps"].shape == (4, 2)
    shares = apart({"level": np.arange(4)}, rows(2, 2), 4)
    assert [share["level"].tolist() for share in shares] == [[0], [1]]


def test_inputs_must_agree_on_their_rows() -> None:
    one, two = np.zeros((1, 2)), np.zeros((2, 2))
    assert rows_of({"a": two, "b": two}) == 2
    for inputs in ({"a": one, "b": two}, {"a": np.array(1.0)}, {}):
        with pytest.raises(Failure):
            rows_of(inputs)


def test_a_row_has_the_same_result_in_every_batch() -> None:
    compute = signatures(3)["serving_default"].compute
    features = np.random.RandomState(5).normal(size=(50, 16)).astype(np.float32)
    together = compute({"features": features})["scores"]
    alone = np.concatenate([compute({"features": row[None]})["scores"] for row in features])
    assert np.array_equal(together, alone)
