"""What the tests of hooks share."""

import pytest
from condor_site import Site


@pytest.fixture
def site(tmp_path, monkeypatch, capsys):
    """A directory of jobs, and a way to call hooks about them."""
    made = Site(tmp_path / "jobs", monkeypatch, capsys)
    made.path.mkdir()
    return made
