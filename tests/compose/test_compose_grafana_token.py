"""The set-up step that gives the controller its token: once, again only when refused, and never a secret in print."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from compose.setup import grafana_token
from tests.compose.composition import by_ourselves
from tests.compose.grafana_accounts import Accounts, serving

PASSWORD = "correct horse"  # noqa: S105 -- of the server in this test


def run(url: str, folder: Path, wait: float = 5.0) -> int:
    (folder / "password").write_text(PASSWORD + "\n")
    files = ["--password", str(folder / "password"), "--token", str(folder / "token")]
    return grafana_token.main(["--grafana", url, "--wait", str(wait), *files])


def test_a_fresh_grafana_gets_one_editor_with_one_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grafana = Accounts(PASSWORD)
    with serving(grafana) as url:
        assert run(url, tmp_path) == 0
    token = (tmp_path / "token").read_text()
    assert grafana.keys() == [token]
    assert grafana.roles() == ["Editor"]
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o400
    assert capsys.readouterr() == ("service-account token made\n", "")


def test_a_token_that_works_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grafana = Accounts(PASSWORD)
    with serving(grafana) as url:
        run(url, tmp_path)
        first, stamp = (tmp_path / "token").read_text(), (tmp_path / "token").stat().st_mtime_ns
        grafana.log.clear()
        assert run(url, tmp_path) == 0
    assert (tmp_path / "token").read_text() == first
    assert (tmp_path / "token").stat().st_mtime_ns == stamp
    assert grafana.log == ["GET /api/annotations"]
    assert capsys.readouterr().out.endswith("service-account token kept\n")


def test_a_lost_token_file_is_made_again_and_the_old_token_ends(tmp_path: Path) -> None:
    grafana = Accounts(PASSWORD)
    with serving(grafana) as url:
        run(url, tmp_path)
        first = (tmp_path / "token").read_text()
        (tmp_path / "token").unlink()
        assert run(url, tmp_path) == 0
    assert grafana.keys() == [(tmp_path / "token").read_text()] != [first]
    assert len(grafana.accounts) == 1


def test_a_token_of_an_earlier_database_is_replaced(tmp_path: Path) -> None:
    with serving(Accounts(PASSWORD)) as url:
        run(url, tmp_path)
    later = Accounts(PASSWORD)
    with serving(later) as url:
        assert run(url, tmp_path) == 0
    assert later.keys() == [(tmp_path / "token").read_text()]


def test_an_account_that_somebody_lowered_becomes_an_editor_again(tmp_path: Path) -> None:
    grafana = Accounts(PASSWORD)
    with serving(grafana) as url:
        run(url, tmp_path)
        next(iter(grafana.accounts.values()))["role"] = "Viewer"
        grafana.tokens.clear()
        assert run(url, tmp_path) == 0
    assert grafana.roles() == ["Editor"]


def test_a_grafana_that_is_still_starting_is_waited_for(tmp_path: Path) -> None:
    grafana = Accounts(PASSWORD, refusals=[503, 502])
    with serving(grafana) as url:
        assert run(url, tmp_path) == 0
    assert len(grafana.keys()) == 1


@pytest.mark.parametrize(
    ("grafana", "sentence"),
    [
        (Accounts("another"), "Grafana refuses the admin password. Its database is older than the password"),
        (Accounts(PASSWORD, refusals=[500]), "could not log in: Grafana answers 500 (not now)"),
        (Accounts(PASSWORD, reads_annotations=False), "does not let the role Editor read annotations"),
    ],
    ids=["an older database", "a broken one", "a lowered role"],
)
def test_what_cannot_work_ends_at_once_with_one_sentence(
    grafana: Accounts, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(grafana) as url:
        assert run(url, tmp_path) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert not (tmp_path / "token").exists()
    assert not any(secret in said.err + said.out for secret in (PASSWORD, *grafana.keys()))


def test_an_absent_grafana_is_given_up_in_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        assert run(url, tmp_path, wait=0.5) == 1
    assert f"could not reach Grafana at {url} for 0.5 s: ConnectionRefusedError" in capsys.readouterr().err


def test_an_absent_password_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Accounts(PASSWORD)) as url:
        files = ["--password", str(tmp_path / "none"), "--token", str(tmp_path / "token")]
        assert grafana_token.main(["--grafana", url, *files]) == 1
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_the_step_runs_as_the_composition_calls_it(tmp_path: Path) -> None:
    service = by_ourselves()["services"]["grafana-token"]
    assert service["entrypoint"] == ["python", "/opt/stagelight/setup/grafana_token.py"]
    for folder in ("admin", "token"):
        (tmp_path / folder).mkdir()
    (tmp_path / "admin/password").write_text(PASSWORD)
    with serving(Accounts(PASSWORD)) as url:
        words = [word.replace("/var/lib/stagelight", str(tmp_path)) for word in service["command"]]
        assert grafana_token.main([url if word == "http://grafana:3000" else word for word in words]) == 0
    assert (tmp_path / "token/token").read_text().startswith("glsa_")
