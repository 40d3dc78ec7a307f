from __future__ import annotations

import json
import os
import resource
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from controller.edges import grafana_outbox
from controller.edges.grafana_outbox import Item, Outbox
from controller.ports import EdgeError
from tests.controller.edges.regions import a_region


def items(path: Path) -> dict[str, Item]:
    """What a new process finds."""
    with closing(Outbox(path)) as box:
        return dict(box.items())


def filled(path: Path) -> bytes:
    """A file as a killed process leaves it, with every kind of line."""
    box = Outbox(path)
    box.put(a_region(0, closed=False))
    box.posting("r-1/0")
    box.settle("r-1/0", 1)
    box.confirm("r-1/0")
    box.put(a_region(0, ends=90))
    box.put(a_region(1, plan="ü <b>"))
    box.posting("r-1/1")
    content = path.read_bytes()
    box.close()
    return content


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    filled(tmp_path / "box")
    found = items(tmp_path / "box")
    assert [(key, item.version, item.settled, item.posting) for key, item in found.items()] == [
        ("r-1/0", 2, 1, False),
        ("r-1/1", 1, 0, True),
    ]
    assert found["r-1/0"].region == a_region(0, ends=90)
    assert found["r-1/1"].region == a_region(1, plan="ü <b>")


def test_a_file_cut_at_any_byte_gives_a_prefix_of_its_lines_and_works_on(tmp_path: Path) -> None:
    content = filled(tmp_path / "whole")
    path = tmp_path / "box"
    near_the_end = len(content) - 60
    for cut in [*range(0, near_the_end, 17), *range(near_the_end, len(content) + 1)]:
        path.write_bytes(content[:cut])
        box = Outbox(path)
        whole_lines = content[:cut].count(b"\n") + (content[cut : cut + 1] == b"\n")
        assert bool(box.items()) == (whole_lines > 0)
        assert ("r-1/1" in box.items()) == (whole_lines >= 6)
        box.put(a_region(9))
        box.close()
        assert items(path)["r-1/9"].region == a_region(9)


def test_foreign_and_broken_lines_are_passed_over(tmp_path: Path) -> None:
    content = filled(tmp_path / "whole")
    odd = [
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"put": 7, "version": 1}',
        b'{"settled": "no/1", "version": 3}',
        b'{"put": {}}',
    ]
    lines = content.splitlines()
    (tmp_path / "box").write_bytes(b"\n".join([odd[0], *lines[:3], *odd, *lines[3:]]))
    assert items(tmp_path / "box") == items(tmp_path / "whole")


def test_what_is_done_is_forgotten_and_the_file_stays_small(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "box")
    for seq in range(200):
        box.put(a_region(seq))
        box.posting(f"r-1/{seq}")
        box.settle(f"r-1/{seq}", 1)
        box.confirm(f"r-1/{seq}")
    assert box.items() == {}
    assert (tmp_path / "box").stat().st_size < grafana_outbox.COMPACT_LINES * 600
    box.close()
    assert items(tmp_path / "box") == {}
    assert (tmp_path / "box").read_bytes() == b""


def test_a_closed_region_that_is_put_again_is_delivered_again(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "box")
    for _ in range(2):
        box.put(a_region())
        box.settle("r-1/0", 1)
        box.confirm("r-1/0")
    box.put(a_region())
    box.close()
    assert items(tmp_path / "box")["r-1/0"].waiting


def test_a_full_disk_is_an_error_and_leaves_no_torn_line(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "box")
    box.put(a_region())
    size = (tmp_path / "box").stat().st_size
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    try:
        with pytest.raises(OSError, match=r"File too large|part could be written"):
            box.put(a_region(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert (tmp_path / "box").stat().st_size == size
    box.put(a_region(2))
    assert list(box.items()) == ["r-1/0", "r-1/1", "r-1/2"]
    box.close()
    assert [json.loads(line)["put"]["seq"] for line in (tmp_path / "box").read_bytes().splitlines()] == [0, 2]


def test_a_region_keeps_its_microseconds_and_zone(tmp_path: Path) -> None:
    odd = replace(a_region(), start=a_region().start.replace(microsecond=123457))
    with closing(Outbox(tmp_path / "box")) as box:
        box.put(odd)
    assert items(tmp_path / "box")["r-1/0"].region == odd


def test_the_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EdgeError, match="could not open the annotation outbox"):
        Outbox(tmp_path / "file" / "box")


def test_a_stale_owner_number_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "box.lock").write_text(json.dumps({"pid": os.getppid()}))
    box = Outbox(tmp_path / "box")
    assert json.loads((tmp_path / "box.lock").read_text())["pid"] == os.getpid()
    box.close()


def test_what_a_gone_process_left_in_a_second_outbox_is_taken_over(tmp_path: Path) -> None:
    filled(tmp_path / "second")
    left = items(tmp_path / "second")
    with closing(Outbox(tmp_path / "first")) as box:
        box.put(a_region(7))
        mine = dict(box.items())
        box.inherit(tmp_path / "second")
        assert dict(box.items()) == left | mine
    assert not (tmp_path / "second").exists()
    assert items(tmp_path / "first") == left | mine


def test_a_second_outbox_in_use_is_left_alone(tmp_path: Path) -> None:
    with closing(Outbox(tmp_path / "second")) as other, closing(Outbox(tmp_path / "first")) as box:
        other.put(a_region(1))
        box.inherit(tmp_path / "second")
        box.inherit(tmp_path / "third")
        assert box.items() == {}
        assert len(other.items()) == 1
    assert len(items(tmp_path / "second")) == 1
