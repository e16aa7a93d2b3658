import time

import pytest


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Local times are those of UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
