"""A locustfile is looked at before load: imported elsewhere, its classes named, their hosts held to the allow-list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from controller.edges.target_http import TargetHttp
from controller.plans.plan import Locustfile, Payloads, Target, Workload
from controller.ports import Finding
from tests.controller.builders import a_plan
from tests.controller.edges.pages import Page, serving

USER = """
from locust import HttpUser, task

print("words of the file's own")

class Shopper(HttpUser):
    {host}

    @task
    def look(self):
        self.client.get("/")
"""


def findings(file: Path, *allow: str, host: str | None = None) -> list[Finding]:
    def looked_up(name: str, _port: int) -> Sequence[str]:
        return ["10.1.2.3"] if name.endswith("lab") else ["127.0.0.1"]

    with serving(lambda _method, _path, _body: Page("{}")) as server:
        workload = Workload(Payloads(), locustfile=Locustfile(file, (), host))
        return list(
            TargetHttp(allow, looked_up).preflight(a_plan(target=Target("http", server.url), workload=workload))
        )


def about_the_file(file: Path, *allow: str, host: str | None = None) -> Finding:
    (found,) = (finding for finding in findings(file, *allow, host=host) if finding.check == "locustfile")
    return found


def written(folder: Path, host: str = "weight = 1") -> Path:
    path = folder / "mine.py"
    path.write_text(USER.format(host=host))
    return path


def test_classes_and_where_they_send_are_said_and_nothing_is_sent(tmp_path: Path) -> None:
    found = findings(written(tmp_path))
    assert [finding.check for finding in found] == ["health", "locustfile", "metrics"]
    assert all(finding.fit for finding in found)
    assert found[1].sentence.startswith("mine.py was imported: Shopper at http://127.0.0.1:")
    assert found[1].requests == 0


def test_a_host_of_a_class_has_to_be_allowed_like_any_target(tmp_path: Path) -> None:
    file = written(tmp_path, 'host = "http://shop.lab:8080"')
    refused = about_the_file(file)
    assert not refused.fit
    assert "the host of the user class Shopper is shop.lab (10.1.2.3), which is not this machine" in refused.sentence
    assert "add shop.lab:8080 to allow_targets" in refused.sentence
    assert about_the_file(file, "10.1.0.0/16").fit
    assert about_the_file(file, host="http://127.0.0.1:1").fit
    assert not about_the_file(written(tmp_path), host="http://other.lab").fit


def test_what_cannot_be_imported_refuses_the_run_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import os\nos._exit(3)\n")
    assert "its process ended with exit code 3" in about_the_file(path).sentence
    path.write_text("def broken(:\n")
    assert "SyntaxError" in about_the_file(path).sentence
    path.unlink()
    assert "FileNotFoundError" in about_the_file(path).sentence
