"""A line of the log is the same whichever way it goes."""

import errno
import io
import json
import logging

import pytest

from sssjob.gateway import log


class _Result(str):
    """A text that a library made, such as what lxml finds."""

    __slots__ = ()


FACTS = {
    "origin": "127.0.0.1", "actor": 'a"\\\n\x1b\u2028é', "rows": 3, "ms": 0.25, "none": None,
    "ended": True, "long": "x" * 500, "of lxml": _Result("y" * 500), "list": ["a"],
}  # fmt: skip


@pytest.fixture
def logger(monkeypatch):
    """The log of the gateway with handlers of its own."""
    monkeypatch.setattr(log.LOGGER, "handlers", [])
    monkeypatch.setattr(log.LOGGER, "propagate", False)
    monkeypatch.setattr(log.LOGGER, "level", logging.INFO)
    monkeypatch.setattr(log.LOGGER, "_cache", {})
    return log.LOGGER


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_an_event_is_the_line_of_its_record(logger, level, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1700000000.25)
    said, formatted, second = io.StringIO(), io.StringIO(), io.StringIO()
    logger.handlers = [log.JsonHandler(said)]
    with monkeypatch.context() as without:
        without.setattr(logger, "handle", None)  # it is not asked
        log.event("a request", level, **FACTS)
    logger.handlers = [log.JsonHandler(formatted), log.JsonHandler(second)]
    log.event("a request", level, **FACTS)
    assert said.getvalue() == formatted.getvalue() == second.getvalue()
    told = json.loads(said.getvalue())
    assert told == {
        "time": "2023-11-14T22:13:20.250Z", "level": logging.getLevelName(level).lower(),
        "event": "a request", **FACTS, "long": "x" * 200, "of lxml": "y" * 200,
    }  # fmt: skip
    assert said.getvalue().isascii()
    assert said.getvalue().count("\n") == 1


def test_what_is_not_of_the_level_is_no_line(logger):
    said = io.StringIO()
    logger.handlers = [log.JsonHandler(said)]
    log.event("a detail", logging.DEBUG)
    assert said.getvalue() == ""


def test_a_log_that_cannot_be_written_costs_no_answer(logger):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    closed = io.StringIO()
    closed.close()
    for stream in (Full(), closed):
        logger.handlers = [log.JsonHandler(stream)]
        log.event("a request", **FACTS)


def test_the_trace_of_a_fault_is_whole(logger):
    said = io.StringIO()
    logger.handlers = [log.JsonHandler(said)]
    try:
        raise ValueError("x" * 1000)
    except ValueError:
        logger.exception("a fault")
    assert "x" * 1000 in json.loads(said.getvalue())["trace"]
