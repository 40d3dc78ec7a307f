from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from controller.edges.rehearsal import EPOCH, RehearsalClock, RehearsalFolder
from controller.edges.run_directory import JOURNAL, RunDirectory, RunsFolder, read_journal
from controller.outcome import Outcome
from controller.ports import EdgeError, RunFolder

ROOT = Path(__file__).parents[3]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[RunsFolder]:
    made = RunsFolder.take(tmp_path / "runs", RehearsalClock(), min_free=1)
    yield made
    made.close()


@pytest.fixture
def run(runs: RunsFolder) -> Iterator[RunDirectory]:
    made = runs.create("r-1")
    yield made
    made.close()


@pytest.fixture(params=["directory", "rehearsal"])
def either(request: pytest.FixtureRequest, run: RunDirectory) -> RunFolder:
    return run if request.param == "directory" else RehearsalFolder()


def test_both_folders_take_entries_and_files(either: RunFolder) -> None:
    either.journal({"action": "begin", "seq": 1})
    either.write("record.json", b"{}")
    either.write("record.json", b'{"a": 1}')


def test_values_of_ours_become_strict_json(run: RunDirectory) -> None:
    run.journal(
        {
            "outcome": Outcome.COMPLETED,
            "at": datetime(2030, 5, 1, 12, tzinfo=UTC),
            "for": timedelta(minutes=1.5),
            "p99": float("nan"),
            "most": float("inf"),
            "tags": ("b", "a"),
            "path": Path("/x"),
            "nested": {1: [True, None, -0.0]},
        }
    )
    (entry,) = read_journal(run.path)
    assert entry == {
        "time": EPOCH.isoformat(),
        "outcome": "completed",
        "at": "2030-05-01T12:00:00+00:00",
        "for": 90.0,
        "p99": None,
        "most": None,
        "tags": ["b", "a"],
        "path": "/x",
        "nested": {"1": [True, None, 0.0]},
    }
    assert b"NaN" not in (run.path / JOURNAL).read_bytes()


def test_a_run_s_folder_is_never_taken_twice(runs: RunsFolder, run: RunDirectory) -> None:
    with pytest.raises(EdgeError, match="r-1 is there already"):
        runs.create("r-1")


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a\0b", "-x"])
def test_a_name_never_leads_out_of_the_folder(name: str, runs: RunsFolder, run: RunDirectory) -> None:
    with pytest.raises(EdgeError, match="could not use"):
        runs.create(name)
    with pytest.raises(EdgeError, match="could not use"):
        run.write(name, b"")


def test_a_journal_cut_at_any_byte_is_read_and_continued(run: RunDirectory) -> None:
    for number in range(3):
        run.journal({"n": number, "text": "ü"})
    path = run.path / JOURNAL
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        complete = whole[:cut].count(b"\n")
        assert [entry["n"] for entry in read_journal(run.path)] == list(range(complete))
        again = RunDirectory.open(run.path, RehearsalClock())
        again.journal({"n": "next"})
        again.close()
        assert [entry["n"] for entry in read_journal(run.path)] == [*range(complete), "next"]


def test_a_broken_line_within_a_journal_is_named(run: RunDirectory) -> None:
    (run.path / JOURNAL).write_bytes(b'{"a": 1}\nnonsense\n{"a": 2}\n')
    with pytest.raises(EdgeError, match="line 2 is not JSON"):
        read_journal(run.path)
    (run.path / JOURNAL).write_bytes(b"7\n")
    with pytest.raises(EdgeError, match="line 1 is not an entry"):
        read_journal(run.path)


def test_runs_without_an_end_are_found(runs: RunsFolder) -> None:
    begun: dict[str, list[dict[str, str]]] = {
        "a": [{}],
        "b": [{"ended": "completed"}],
        "c": [],
        "d": [{"ended": "crashed"}],
    }
    for run_id, entries in begun.items():
        run = runs.create(run_id)
        for entry in entries:
            run.journal(entry)
        run.close()
    assert [folder.name for folder in runs.dangling()] == ["a", "c"]
    (runs.path / "d" / JOURNAL).write_bytes((runs.path / "d" / JOURNAL).read_bytes()[:-1])
    assert [folder.name for folder in runs.dangling()] == ["a", "c", "d"]
    (runs.path / "b" / JOURNAL).write_bytes(b"\xff\n" + b'{"n": 1}\n')
    assert [folder.name for folder in runs.dangling()] == ["a", "c", "d"]


def test_a_long_journal_that_has_an_end_is_known_by_its_end(runs: RunsFolder) -> None:
    run = runs.create("long")
    for number in range(50):
        run.journal({"n": number, "text": "x" * 200})
    assert [folder.name for folder in runs.dangling()] == ["long"]
    run.journal({"ended": "completed"})
    run.close()
    assert runs.dangling() == []
    path = run.path / JOURNAL
    path.write_bytes(b"nonsense that nobody has to read" + path.read_bytes())
    assert runs.dangling() == []


def test_a_run_does_not_begin_on_a_full_disk(tmp_path: Path) -> None:
    runs = RunsFolder.take(tmp_path, RehearsalClock(), min_free=10**18)
    with pytest.raises(EdgeError, match=r"[\d,]+ MB are free at .*, a run needs 1,000,000,000,000 MB"):
        runs.create("r")
    assert not (tmp_path / "r").exists()
    runs.close()


def test_a_disk_that_fills_up_leaves_whole_lines_and_whole_files(run: RunDirectory) -> None:
    run.journal({"n": 1})
    run.write("report.html", b"old")
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((run.path / JOURNAL).stat().st_size + 10, hard))
    try:
        with pytest.raises(EdgeError, match="could not write the journal"):
            run.journal({"n": 2, "text": "x" * 100})
        with pytest.raises(EdgeError, match=r"report\.html"):
            run.write("report.html", b"new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    run.journal({"n": 3})
    assert [entry["n"] for entry in read_journal(run.path)] == [1, 3]
    assert (run.path / "report.html").read_bytes() == b"old"
    assert sorted(path.name for path in run.path.iterdir()) == [JOURNAL, "report.html"]


def test_a_second_controller_is_told_who_owns_the_folder(runs: RunsFolder) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from controller.edges.rehearsal import RehearsalClock\n"
        "from controller.edges.run_directory import RunsFolder\n"
        "from controller.ports import EdgeError\n"
        "try: RunsFolder.take(Path(sys.argv[1]), RehearsalClock())\n"
        "except EdgeError as error: sys.exit(str(error))\n"
    )
    second = subprocess.run(
        [sys.executable, "-c", code, str(runs.path)], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert second.returncode == 1
    assert f"process {os.getpid()} on " in second.stderr
    assert "stop it first" in second.stderr


def test_the_lock_ends_with_its_owner_and_a_stale_number_means_nothing(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from controller.edges.rehearsal import RehearsalClock\n"
        "from controller.edges.run_directory import RunsFolder\n"
        "taken = RunsFolder.take(Path(sys.argv[1]), RehearsalClock())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, timeout=30, check=False)
    assert killed.returncode == -9
    (tmp_path / ".lock").write_text(json.dumps({"pid": os.getppid(), "host": "h", "command": "c", "since": "s"}))
    taken = RunsFolder.take(tmp_path, RehearsalClock())
    assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()
    taken.close()


def test_a_runs_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EdgeError, match="could not create the runs folder"):
        RunsFolder.take(tmp_path / "file" / "runs", RehearsalClock())


def test_a_folder_that_is_shared_is_owned_for_a_turn_only(runs: RunsFolder) -> None:
    shared = RunsFolder.beside(runs.path, RehearsalClock(), min_free=1)
    with pytest.raises(EdgeError, match="owns it"), shared.turn():
        pass
    runs.close()
    with shared.turn(), pytest.raises(EdgeError, match="owns it"):
        RunsFolder.take(runs.path, RehearsalClock())
    RunsFolder.take(runs.path, RehearsalClock()).close()


def test_who_waits_for_a_turn_gets_it_when_it_is_free_and_gives_up_when_told(runs: RunsFolder) -> None:
    class Impatient(RehearsalClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.monotonic() - begun > 20:
                runs.close()

    clock = Impatient()
    begun = clock.monotonic()
    with pytest.raises(EdgeError, match="owns it"), RunsFolder.beside(runs.path, clock).turn(patience=10):
        pass
    assert 10 <= clock.monotonic() - begun < 12
    with RunsFolder.beside(runs.path, clock).turn(patience=60):
        assert 20 < clock.monotonic() - begun < 22
