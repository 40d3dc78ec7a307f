"""Jumps of the clock, the kernel's account of it, and temperatures."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from exporters.discipline import Discipline, decode
from exporters.host import thermal
from exporters.host.clock import follow, read_clock

SYS = Path(__file__).with_name("fixtures") / "sys"


def test_a_jump_is_counted_and_slewing_is_not() -> None:
    reading = follow(None, 1000.0, 50.0)
    assert (reading.steps, reading.last_step) == (0, None)
    reading = follow(reading, 1001.0005, 51.0)
    assert reading.steps == 0
    reading = follow(reading, 912.0, 52.0)
    assert reading.steps == 1
    assert reading.last_step == pytest.approx(-90.0005)
    reading = follow(reading, 4513.0, 53.0)
    assert reading.steps == 2
    assert reading.last_step == pytest.approx(3600.0)
    assert follow(reading, 4613.05, 153.0).steps == 2


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (0x2001, Discipline(-2e-4, 0.016, True)),
        (0x2041, Discipline(-2e-4, 0.016, False)),
        (0x0001, Discipline(-0.2, 0.016, True)),
    ],
)
def test_the_kernel_s_account_has_two_units(status: int, expected: Discipline) -> None:
    found = decode(struct.pack("@i4xqqqqi4x", 0, -200_000, 0, 16_000, 5, status))
    assert (found.offset, found.error_max) == pytest.approx((expected.offset, expected.error_max))
    assert found.synchronized is expected.synchronized


def test_this_machine_s_clock_can_be_read_twice() -> None:
    assert read_clock(read_clock(None)).steps == 0


def test_heat_is_read_where_it_is_told() -> None:
    reading = thermal.read_thermal(SYS, None)
    assert reading.celsius == {"x86_pkg_temp_0": 61.5}
    assert reading.throttles == {"0": 4}
    assert thermal.read_thermal(SYS, reading) is reading


def test_a_machine_without_sensors_has_nothing_to_read(tmp_path: Path) -> None:
    reading = thermal.read_thermal(tmp_path, None)
    assert (reading.celsius, reading.throttles) == ({}, {})
    assert thermal.read_thermal(tmp_path, reading) is reading  # not looked for anew each second
    assert not [family for family in thermal.families(reading) if family.samples]


def test_a_sensor_that_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    shutil.copytree(SYS, tmp_path / "sys")
    (tmp_path / "sys/class/thermal/thermal_zone0/temp").write_text("hot\n")
    reading = thermal.read_thermal(tmp_path / "sys", None)
    assert reading.celsius == {}
