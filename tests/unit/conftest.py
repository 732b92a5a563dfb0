"""What tests of the command line share."""

from __future__ import annotations

import warnings

import pytest
from typer.testing import CliRunner

from granum.cli import make_app


@pytest.fixture
def granum(tmp_path, monkeypatch):
    """Runs a command in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def granum(*arguments):
        result = CliRunner(env={"COLUMNS": "400"}).invoke(make_app(), [str(a) for a in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return granum
