"""A gateway that submits to a pretended Slurm."""

import pytest
from gateways import serving
from pretended import Pretended
from submitting_gateway import ME, SETTINGS


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Commands of Slurm that find no other ones."""
    found = Pretended(tmp_path / "batch", "slurm", ME)
    monkeypatch.setenv("PATH", found.path)
    return found


@pytest.fixture
def folder(tmp_path, slurm):
    for name in ("auth_key", "maui.key"):
        (tmp_path / name).write_text(f"the {name} of this test\n")
        (tmp_path / name).chmod(0o600)
    (tmp_path / "gateway.toml").write_text(SETTINGS)
    return tmp_path


@pytest.fixture
def port(folder):
    with serving(folder) as (_, port):
        yield port
