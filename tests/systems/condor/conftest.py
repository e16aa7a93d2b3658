"""What the tests of hooks share."""

import pytest
from condor_site import Site
from engines import address  # noqa: F401 (a fixture)

from sssjob.systems.condor.hooks import owners, programs
from sssjob.users import user_id


@pytest.fixture
def site(tmp_path, monkeypatch, capsys):
    """A directory of jobs, and a way to call hooks about them."""
    made = Site(tmp_path / "jobs", monkeypatch, capsys)
    made.path.mkdir()
    return made


@pytest.fixture(autouse=True)
def startd_of_root(monkeypatch):
    """Hooks that a startd of root calls, on a machine that has the users of most documents."""
    known = {"amy", "bob", "eve", "slotuser"}
    monkeypatch.setattr(owners, "user_id", lambda name: 1000 if name in known else user_id(name))
    monkeypatch.setattr(programs, "_startd_is_root", lambda: True)
