from __future__ import annotations

from pathlib import Path

import pytest

from controller.edges.grafana_credential import PasswordFile, TokenFile
from controller.plans.problems import PlanError
from controller.settings import Settings, load_settings


def problems(path: Path | None = None, **environment: str) -> list[str]:
    with pytest.raises(PlanError) as caught:
        load_settings(path, environment)
    return [str(problem) for problem in caught.value.problems]


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(text)
    return path


def test_nothing_set_is_loopback_and_no_services() -> None:
    settings = load_settings(None, {"HOME": "/root", "STAGELIGHT_RUNS": ""})
    assert settings == Settings()
    assert settings.listen == ("127.0.0.1", 9690)
    assert settings.allow_targets == ()
    assert (settings.prometheus_url, settings.grafana_url, settings.credential()) == (None, None, None)


def test_file_and_environment_have_the_same_form_and_the_environment_goes_first(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "runs: archive\nlisten: '[::1]:9000'\nprometheus_url: http://127.0.0.1:9090/\n"
        "allow_targets: [model.lab, 10.1.0.0/16, 'gpu:8501']\nmin_free: 1.5GiB\ndeadline_factor: 2\n",
    )
    settings = load_settings(path, {"STAGELIGHT_LISTEN": "0.0.0.0:9690", "STAGELIGHT_DISCOVERY": "targets"})
    assert settings.runs == tmp_path / "archive"
    assert settings.discovery == Path("targets")
    assert settings.listen == ("0.0.0.0", 9690)
    assert settings.prometheus_url == "http://127.0.0.1:9090"
    assert settings.allow_targets == ("model.lab", "10.1.0.0/16", "gpu:8501")
    assert (settings.min_free, settings.deadline_factor) == (1_610_612_736, 2.0)
    assert load_settings(None, {"STAGELIGHT_ALLOW_TARGETS": "a, b:1,fe80::/10"}).allow_targets == (
        "a",
        "b:1",
        "fe80::/10",
    )


def test_a_target_may_be_written_as_the_address_that_is_loaded() -> None:
    urls = "http://model.lab:8501/v1/models/scorer, https://gpu, 10.0.0.0/8"
    allowed = load_settings(None, {"STAGELIGHT_ALLOW_TARGETS": urls}).allow_targets
    assert allowed == ("model.lab:8501", "gpu:443", "10.0.0.0/8")


def test_the_token_goes_before_the_password() -> None:
    grafana = {"STAGELIGHT_GRAFANA_URL": "http://127.0.0.1:3000"}
    password = {"STAGELIGHT_GRAFANA_USER": "admin", "STAGELIGHT_GRAFANA_PASSWORD_FILE": "/p"}
    assert load_settings(None, grafana | password).credential() == PasswordFile("admin", Path("/p"))
    both = grafana | password | {"STAGELIGHT_GRAFANA_TOKEN_FILE": "/t"}
    assert load_settings(None, both).credential() == TokenFile(Path("/t"))
    assert load_settings(None, grafana).credential() is None


def test_all_problems_are_told_at_once_with_their_places(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "rums: x\nlisten: 9690\nprometheus_url: ftp://x\nmin_free: much\nmin_free: 1GB\n"
        "deadline_factor: 0.5\nallow_targets: [ok, ftp://x, 1.2.3.4/40]\ngrafana_user: admin\nruns: {a: b}\n",
    )
    found = problems(path, STAGELIGHT_GRAFANA_TOKENFILE="/t", STAGELIGHT_PROMETHEUS_URL="http://me:secret@x")
    beginnings = [
        ": grafana_user: stands without grafana_password_file; set grafana_password_file too",
        ": grafana_user: stands without grafana_url; set grafana_url, or leave both out",
        "environment: STAGELIGHT_GRAFANA_TOKENFILE: is not a setting; did you mean STAGELIGHT_GRAFANA_TOKEN_FILE?",
        "environment: STAGELIGHT_PROMETHEUS_URL: holds a user or a password; put the secret into a file",
        ":1: rums: is not a setting; did you mean runs?",
        ":2: listen: 9690 is not a host and a port; write it like 127.0.0.1:9690",
        ":3: prometheus_url: ftp://x is not an address; write it like http://127.0.0.1:9090",
        ":4: min_free: much is not a size; write it like 200MB or 1GiB",
        ":5: min_free: stands here and on line 4 already; keep one of the two",
        ":6: deadline_factor: 0.5 is not a number from 1 to 10; write one, such as 1.5",
        ":7: allow_targets: ftp://x is not a host or a network; write a host name, an address or a network",
        ":9: runs: is a mapping or a list; write one value",
    ]
    assert len(found) == len(beginnings)
    for problem, beginning in zip(found, beginnings, strict=True):
        assert problem.removeprefix(str(path)).startswith(beginning)
    assert not any("secret" in problem.replace("the secret", "") for problem in found)


def test_a_file_that_is_not_there_or_is_empty(tmp_path: Path) -> None:
    assert "does not exist" in problems(tmp_path / "absent.yaml")[0]
    assert load_settings(written(tmp_path, "# nothing yet\n"), {}) == Settings()
    assert "is not a mapping" in problems(written(tmp_path, "- a\n"))[0]


def test_variables_of_others_with_our_prefix_are_left_alone() -> None:
    others = {"STAGELIGHT_DASHBOARDS": "x", "STAGELIGHT_PROMETHEUS3": "x", "STAGELIGHT_GOLDEN": "write"}
    assert load_settings(None, others) == Settings()
