"""A gateway that submits to a pretended Slurm."""

import pytest
from engines import address  # noqa: F401 (fixtures)
from gateways import beside
from pretended import Pretended
from submitting_gateway import ME, prepare


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
