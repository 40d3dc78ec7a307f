"""The generated wire modules are what a fresh compilation gives, and two copies live together."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import controller.serving.protos
from compose.targets.build_protos import PROTOS, compiled, main, needed


def test_the_committed_modules_equal_a_fresh_compilation() -> None:
    fresh = compiled()
    assert len(fresh) == 2 * len(list(PROTOS.glob("*.proto")))
    for name, text in fresh.items():
        assert (PROTOS / name).read_text("utf-8") == text, f"run `python -m compose.targets.build_protos` for {name}"
    assert main(["--check"]) == 0


def test_the_clients_copy_is_the_same_and_holds_only_what_it_needs() -> None:
    folder = Path(controller.serving.protos.__file__).parent
    assert main(["--check", "--out", str(folder), "--only", "tfserving_api"]) == 0
    kept = {path.name for path in folder.glob("tfserving_*")}
    assert kept == set(needed(compiled(), "tfserving_api")) < set(compiled())


def test_a_proto_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--only", "nothing"]) == 1
    assert "there is no nothing.proto" in capsys.readouterr().err


def test_a_stale_copy_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    (tmp_path / "tfserving_api_pb2.py").write_text("")
    assert main(["--out", str(tmp_path), "--check"]) == 1
    assert "tfserving_api_pb2.py is out of date" in capsys.readouterr().err


def test_another_package_may_have_a_copy_in_the_same_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "wire_copy"
    assert main(["--out", str(package)]) == 0
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    copy = importlib.import_module("wire_copy.tfserving_api_pb2")
    ours = importlib.import_module("compose.targets.protos.tfserving_api_pb2")
    request = copy.PredictRequest(model_spec=copy.ModelSpec(name="m"))
    assert ours.PredictRequest.FromString(request.SerializeToString()).model_spec.name == "m"
    assert request.DESCRIPTOR.full_name == "tensorflow.serving.PredictRequest"
    for name in [name for name in sys.modules if name.startswith("wire_copy")]:
        del sys.modules[name]
