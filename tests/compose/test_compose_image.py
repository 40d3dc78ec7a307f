"""Our image: pinned, from the lock alone, without root, and holding what the composition starts in it."""

from __future__ import annotations

import fnmatch
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compose.composition import FOLDER, ROOT, by_ourselves, mounts

DOCKERFILE = FOLDER / "Dockerfile"
IMAGE_SECRET = re.compile(r"(?i)password|secret|token=")


def instructions() -> list[tuple[str, str]]:
    """Every instruction with its arguments, continued lines joined."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def arguments(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def copied() -> list[str]:
    """Paths of the repository that the build copies."""
    found: list[str] = []
    for rest in arguments("COPY"):
        words = shlex.split(rest)
        if not words[0].startswith("--from"):
            found += words[:-1]
    return found


def test_the_base_image_is_pinned_and_the_same_in_every_stage() -> None:
    (name, image), (build, same) = (rest.split("=", 1) for rest in arguments("ARG"))
    assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", image)
    assert same == f"${{{name}}}"
    assert [re.sub(r" AS \w+$", "", rest) for rest in arguments("FROM")] == [f"${{{build}}}", same]


def test_everything_comes_from_the_lock_with_hashes_and_nothing_is_compiled() -> None:
    installs = [part for rest in arguments("RUN") for part in rest.split("&&") if " pip install " in part]
    lock, ours = installs
    assert "--require-hashes" in lock
    assert "--only-binary :all:" in lock
    assert "-r requirements.lock" in lock
    for option in ("--no-index", "--no-deps", "--no-build-isolation"):
        assert option in ours


def test_the_image_runs_without_root_as_the_composition_says() -> None:
    assert arguments("USER") == [by_ourselves()["services"]["controller"]["user"]]
    last_words = [word for word, _ in instructions()]
    assert last_words.index("USER") > max(at for at, word in enumerate(last_words) if word in {"RUN", "COPY"})
    assert not any(IMAGE_SECRET.search(rest) for rest in arguments("ENV") + arguments("ARG"))


def test_every_copied_path_exists_and_reaches_the_build() -> None:
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    assert "**" in ignored
    let_in = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    assert sorted(copied()) == sorted(let_in)
    for path in copied():
        assert (ROOT / path).exists(), path
    kept_out = [line for line in ignored if line and not line.startswith(("!", "#"))]
    assert any(fnmatch.fnmatch("controller/__pycache__/x.pyc", pattern) for pattern in kept_out)


def test_all_of_our_packages_are_in_the_image() -> None:
    wheel = re.search(r"^packages = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert wheel is not None
    assert set(re.findall(r'"(\w+)"', wheel[1])) <= set(copied())


def test_every_program_that_a_service_starts_is_in_the_image() -> None:
    """Console scripts of the project, or a script at the place where the Dockerfile copies it."""
    scripts = re.findall(r'^([\w-]+) = "[\w.]+:main"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    places = {words[-1]: words[0] for rest in arguments("COPY") if not (words := rest.split())[0].startswith("--")}
    (default,) = arguments("ENTRYPOINT")
    for name, service in by_ourselves()["services"].items():
        if not service.get("build"):
            continue
        entry = service.get("entrypoint") or [default.strip('[]"')]
        if entry[0] == "python":
            folder, _, file = entry[1].rpartition("/")
            assert (ROOT / places[folder] / file).is_file(), name
        else:
            assert entry[0] in scripts, name


def test_folders_on_which_volumes_are_mounted_belong_to_our_user() -> None:
    made = {
        word: re.search(r"-o (\d+) -g (\d+)", part)
        for rest in arguments("RUN")
        for part in rest.split("&&")
        if "install -d" in part
        for word in part.split()
        if word.startswith("/")
    }
    for name, service in by_ourselves()["services"].items():
        for mount in mounts(service):
            if service.get("build") and mount["type"] == "volume":
                owner = made[mount["target"]]
                assert owner is not None
                assert ":".join(owner.groups()) == service["user"], name


@pytest.mark.parametrize("script", ["prepare.py", "grafana_token.py"])
def test_the_steps_need_nothing_but_python_itself(script: str) -> None:
    """They run before anything of ours is known to work, from a folder that is no package."""
    line = [sys.executable, "-I", "-S", str(FOLDER / "setup" / script), "--help"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=20, check=False, cwd=Path("/"))
    assert (done.returncode, done.stderr) == (0, "")
