"""What all tests share: this folder can be imported from, and no test is judged by the clock."""

import os
import stat
from pathlib import Path

import checkout
import pytest
from daemons import protected
from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.load_profile("here")


def pytest_configure(config):
    checkout.watch(config, Path(__file__).parents[1])


@pytest.fixture
def full(tmp_path_factory):
    """A device without room: /dev/full, but for root, who could take that one from the machine."""
    if os.geteuid() != 0:
        return Path("/dev/full")
    path = tmp_path_factory.mktemp("device") / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    return path


@pytest.fixture
def safe_path(tmp_path):
    """A directory below which nobody leads root elsewhere, as /tmp is not."""
    with protected(tmp_path) as place:
        yield place
