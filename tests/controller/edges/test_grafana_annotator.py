from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest

from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_credential import PasswordFile, TokenFile
from controller.ports import EdgeError
from controller.running import annotation
from controller.running.watching import Mark
from tests.controller.edges.grafana_double import Answer, GrafanaDouble, Stall
from tests.controller.edges.regions import FAST, a_region, settle, until


def test_a_region_arrives_once_with_exact_milliseconds(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    annotator.put(a_region(3))
    settle(annotator)
    (row,) = grafana.rows.values()
    assert (row["time"], row["timeEnd"]) == (1893456000000, 1893456060000)
    assert row["tags"][:4] == ["stagelight", "run-phase", "run_id:r-1", "seq:3"]
    assert row["data"] == {"key": "r-1/3"}
    assert (grafana.complaints, annotator.failures()) == ([], {})


def test_the_same_key_moves_the_region_forward(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    for ends in (15, 30, 45):
        annotator.put(a_region(ends=ends, closed=False))
        settle(annotator)
    assert [region.key for region in annotator.open_regions()] == ["r-1/0"]
    annotator.put(annotation.end_unknown(a_region(ends=50, closed=False)))
    settle(annotator)
    (row,) = grafana.rows.values()
    assert row["timeEnd"] == 1893456050000
    assert annotation.END_UNKNOWN in row["tags"]
    assert annotator.open_regions() == []


def test_a_region_of_another_kind_is_found_by_its_own_marker(
    grafana: GrafanaDouble, annotator: GrafanaAnnotator
) -> None:
    start = a_region().start.timestamp()
    for number, end in ((0, 5.0), (0, 9.0), (1, 7.0)):
        mark = Mark(number, "cpu", "worker-0", start, start + end, 1.3)
        annotator.put(annotation.trouble("r-1", "nightly", mark, start + end))
        settle(annotator)
    rows = sorted(grafana.rows.values(), key=lambda row: row["timeEnd"])
    assert [row["timeEnd"] - row["time"] for row in rows] == [7000, 9000]
    assert rows[0]["tags"][:4] == ["stagelight", "disturbance", "run_id:r-1", f"seq:{annotation.MARKS_FROM + 1}"]
    assert (grafana.complaints, annotator.failures()) == ([], {})


def test_user_and_password_work_too(grafana: GrafanaDouble, tmp_path: Path, outbox: Path) -> None:
    (tmp_path / "password").write_text("pässword with $ \n")
    grafana.accepted = {"Basic YWRtaW46cMOkc3N3b3JkIHdpdGggJCA="}
    annotator = GrafanaAnnotator(outbox, grafana.url, PasswordFile("admin", tmp_path / "password"), FAST)
    annotator.put(a_region())
    settle(annotator)
    annotator.close(1)
    assert len(grafana.rows) == 1


def fsync_seconds(folder: Path) -> float:
    """What one fsync costs on this disk, in the middle."""
    took = []
    with (folder / "measured").open("wb", buffering=0) as file:
        for _ in range(40):
            begun = time.perf_counter()
            file.write(b"x" * 500)
            os.fsync(file.fileno())
            took.append(time.perf_counter() - begun)
    return median(took)


def test_nothing_is_delayed_while_grafana_is_down_and_all_of_it_arrives_later(
    grafana: GrafanaDouble, annotator: GrafanaAnnotator, tmp_path: Path
) -> None:
    grafana.stop()
    took = []
    for seq in range(40):
        begun = time.perf_counter()
        annotator.put(a_region(seq))
        took.append(time.perf_counter() - begun)
    assert median(took) < 0.005 + fsync_seconds(tmp_path)
    assert annotator.pending() == 40
    grafana.start()
    settle(annotator)
    assert sorted(row["data"]["key"] for row in grafana.rows.values()) == sorted(f"r-1/{seq}" for seq in range(40))


def test_a_grafana_that_hangs_does_not_delay_put(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    grafana.fail("GET", Stall("before", 1.5))
    annotator.put(a_region())
    until(lambda: len(grafana.requests) == 1)
    begun = time.perf_counter()
    annotator.put(a_region(1))
    assert time.perf_counter() - begun < 0.5
    assert annotator.pending() == 2


def test_of_copies_only_our_own_are_deleted(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    mine = {"text": "old", "time": 1893456000000, "tags": list(a_region().tags)}
    others = (["run-phase", "run_id:r-1", "seq:00"], ["run-phase", "run_id:r-10", "seq:0"], ["run_id:r-1", "seq:0"])
    kept = [grafana.store({**mine, "tags": list(tags)}) for tags in others]
    first, *_ = (grafana.store(mine) for _ in range(3))
    annotator.put(a_region())
    settle(annotator)
    assert sorted(grafana.rows) == sorted([*kept, first])
    assert grafana.rows[first]["text"] == a_region().text


def test_the_first_region_of_a_run_is_read_back(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    grafana.seconds_for_milliseconds = True
    for seq in range(3):
        annotator.put(a_region(seq))
    annotator.put(a_region(0, run_id="r-2"))
    settle(annotator)
    until(lambda: annotator.failures() == {"read_back": 2})


def test_a_time_that_cannot_be_meant_never_leaves(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    annotator.put(replace(a_region(), start=datetime(1970, 1, 21, 20, tzinfo=UTC)))
    annotator.put(replace(a_region(1), start=datetime(2030, 1, 1)))  # noqa: DTZ001 (naive on purpose)
    settle(annotator)
    assert annotator.failures() == {"refused": 2}
    assert grafana.requests == []


def test_strange_plan_names_are_found_again(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    for seq, plan in enumerate(("a:b,c d", "Nächtlich 長い" * 30, "<b>&", "\0\n")):
        for ends in (10, 20):
            annotator.put(a_region(seq, plan=plan, run_id="2030-01-01T00:00:00Z", ends=ends))
            settle(annotator)
    assert (len(grafana.rows), grafana.complaints, annotator.failures()) == (4, [], {})


def test_many_runs_use_few_tags(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    for run in range(10):
        for seq in range(6):
            annotator.put(a_region(seq, run_id=f"r-{run}"))
    until(lambda: annotator.pending() == 0, 20)
    vocabulary = {tag for row in grafana.rows.values() for tag in row["tags"] if not tag.startswith("run_id:")}
    assert len(grafana.rows) == 60
    assert len(vocabulary) == 2 + 6 + 1 + 1


def test_closing_is_bounded_and_the_rest_waits_for_the_next_process(
    grafana: GrafanaDouble, token: TokenFile, outbox: Path
) -> None:
    first = GrafanaAnnotator(outbox, grafana.url, token, FAST)
    grafana.stop()
    first.put(a_region(closed=False))
    begun = time.monotonic()
    first.close(0.3)
    assert time.monotonic() - begun < 1.0
    grafana.start()
    second = GrafanaAnnotator(outbox, grafana.url, token, FAST)
    assert [region.key for region in second.open_regions()] == ["r-1/0"]
    second.close(3)
    assert len(grafana.rows) == 1


def test_closing_delivers_at_once_what_was_backing_off(grafana: GrafanaDouble, token: TokenFile, outbox: Path) -> None:
    slow = replace(FAST, first=20.0, longest=20.0)
    annotator = GrafanaAnnotator(outbox, grafana.url, token, slow)
    grafana.fail("GET", Answer(503))
    annotator.put(a_region())
    until(lambda: annotator.failures() == {"unreachable": 1})
    begun = time.monotonic()
    annotator.close(5)
    assert time.monotonic() - begun < 1.0
    assert len(grafana.rows) == 1


def test_one_process_owns_the_outbox(
    grafana: GrafanaDouble, token: TokenFile, outbox: Path, annotator: GrafanaAnnotator
) -> None:
    with pytest.raises(EdgeError, match=f"process {os.getpid()} on .* owns it"):
        GrafanaAnnotator(outbox, grafana.url, token, FAST)
