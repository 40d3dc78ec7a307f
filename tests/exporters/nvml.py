"""Builds the stand-in for the driver's library, and writes the script it follows."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.needs import need

A, B = "GPU-aaaaaaaa", "GPU-bbbbbbbb"
"""The UUIDs of the two devices that a script begins with."""

FAST = ("gpu", "--interval", "100ms", "--deadline", "500ms")
"""An exporter of GPUs alone that need not be waited for."""

SOURCE = Path(__file__).parents[2] / "exporters/gpu/nvml_standin.c"

Lines = dict[str, str]
"""`<device|system>.<field>` to `value <v>`, `error <code>` or `hang <seconds> <v>`."""


@dataclass(frozen=True, slots=True)
class Standin:
    """A folder with the built library, its script, and the list of the calls it got."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What makes the dynamic loader find the stand-in, and the stand-in its files."""
        return {
            **os.environ,
            "LD_LIBRARY_PATH": str(self.folder),
            "NVML_STANDIN_SCRIPT": str(self.folder / "script"),
            "NVML_STANDIN_CALLS": str(self.folder / "calls"),
        }

    @property
    def quiet_environment(self) -> dict[str, str]:
        """The same without the list of calls, which would cost more than the calls."""
        return {key: value for key, value in self.environment.items() if key != "NVML_STANDIN_CALLS"}

    def script(self, *parts: Lines) -> None:
        """Replace the script; later parts win."""
        lines: Lines = {}
        for part in parts:
            lines |= part
        new = self.folder / "script.new"
        new.write_text("".join(f"{key} {what}\n" for key, what in lines.items()), encoding="latin-1")
        new.replace(self.folder / "script")

    def run(self, program: str) -> str:
        """What a Python program prints that loads the stand-in as the driver's library."""
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    def calls(self, call: str) -> int:
        """How often the library got this call."""
        return (self.folder / "calls").read_text(encoding="ascii").splitlines().count(call)


def build(folder: Path) -> Standin:
    """Compile the library into `folder` with the system's compiler."""
    library = folder / "libnvidia-ml.so.1"
    command = [need("cc"), "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(library), str(SOURCE), "-lm"]
    subprocess.run(command, check=True)
    return Standin(folder)


def a_system(devices: int = 2, **lines: str) -> Lines:
    """A driver that works."""
    return {
        "system.init": "value 1",
        "system.driver": "value 550.54.15",
        "system.nvml": "value 12.550.54.15",
        "system.cuda": "value 12040",
        "system.devices": f"value {devices}",
        **{f"system.{field}": what for field, what in lines.items()},
    }


def a_device(index: int, uuid: str, **lines: str) -> Lines:
    """A device with every field; keywords replace fields."""
    fields = {
        "uuid": f"value {uuid}",
        "name": "value NVIDIA Stand-in 80GB",
        "bus_id": f"value 00000000:0{index}:00.0",
        "encoder": "value 12",
        "decoder": "value 25",
        "bar1_total": "value 134217728",
        "bar1_used": "value 2097152",
        "memory_temperature": "value 72",
        "limit_shutdown": "value 95",
        "limit_slowdown": "value 92",
        "limit_memory": "value 105",
        "limit_gpu": "value 88",
        "memory_v2": "value 85899345920",
        "memory_v1": "value 85899345920",
        "memory_used": "value 1073741824",
        "memory_reserved": "value 536870912",
        "utilization": "value 75",
        "memory_activity": "value 40",
        "power": "value 312500",
        "power_limit": "value 700000",
        "energy": "value 123456789",
        "temperature": "value 61",
        "clock_graphics": "value 1980",
        "clock_sm": "value 1980",
        "clock_memory": "value 2619",
        "clock_video": "value 1545",
        "clock_max_graphics": "value 2000",
        "clock_max_sm": "value 2000",
        "clock_max_memory": "value 2620",
        "clock_max_video": "value 1600",
        "throttle_reasons": "value 36",
        "performance_state": "value 0",
        "pcie_transmit": "value 2000",
        "pcie_receive": "value 3000",
        "pcie_lanes": "value 8",
        "pcie_lanes_max": "value 16",
        "pcie_generation": "value 4",
        "pcie_generation_max": "value 5",
        "nvlink_0": "value 1",
        "nvlink_1": "value 1",
        "nvlink_2": "value 0",
        "nvlink_sent": "value 1024",
        "nvlink_received": "value 2048",
        "ecc_corrected": "value 7",
        "ecc_uncorrected": "value 1",
        "remapped_corrected": "value 2",
        "remapped_uncorrected": "value 1",
        "remapped_pending": "value 1",
        "remapped_failed": "value 0",
        "processes": "value 4242:1073741824",
        "events": "value 1",
    }
    return {f"{index}.{field}": what for field, what in (fields | lines).items()}
