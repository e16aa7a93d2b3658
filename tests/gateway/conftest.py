"""A gateway that submits to a pretended Slurm."""

import json
import logging

import pytest
from engines import address  # noqa: F401 (fixtures)
from gateways import beside
from pretended import Pretended
from submitting_gateway import ME, prepare

from sssjob.gateway.log import LOGGER, JsonFormatter


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Commands of Slurm that find no other ones."""
    found = Pretended(tmp_path / "batch", "slurm", ME)
    monkeypatch.setenv("PATH", found.path)
    return found


@pytest.fixture
def folder(tmp_path, slurm):
    prepare(tmp_path)
    return tmp_path


@pytest.fixture
def port(folder):
    with beside(folder) as port:
        yield port


@pytest.fixture
def log():
    """The lines of the log, those for developers too, as they are read from JSON."""
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(json.loads(self.format(record)))

    handler = Keep()
    handler.setFormatter(JsonFormatter())
    LOGGER.addHandler(handler)
    level = LOGGER.level
    LOGGER.setLevel(logging.DEBUG)
    yield lines
    LOGGER.setLevel(level)
    LOGGER.removeHandler(handler)
