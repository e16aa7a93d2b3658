"""Jobs that differ in their texts alone: what is known of one is true of all of them."""

import random

import pytest
from plain_jobs import jobs, told

from sssjob import Job, Property, Requested, translate
from sssjob.translate import Settings, engine, outlines
from sssjob.translate.outlines import Outlines

SETTINGS = (
    Settings(),
    Settings(unstated="Reject", residual=False),
    Settings(memory_scope="node", residual=False),
    Settings(unstated="Ignore", memory_scope="task"),
)


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setattr(engine, "_OUTLINES", Outlines())


@pytest.mark.parametrize("to", ["sbatch", "pbs", "sge", "lsf", "condor", "jsdl", "flux", "psij"])
def test_a_job_is_translated_behind_others_as_it_is_alone(to, monkeypatch):
    pick = random.Random(16).choice
    found = [job for _ in range(25) for job in jobs(pick)]
    behind = [told(job, to, SETTINGS[place % 4]) for place, job in enumerate(found)]
    for place, job in enumerate(found):
        monkeypatch.setattr(engine, "_OUTLINES", Outlines())
        assert told(job, to, SETTINGS[place % 4]) == behind[place]


def plain(**texts):
    return Job((*(Property(name, text) for name, text in texts.items()), Requested.of(Memory=1)))


def test_what_a_job_asks_for_is_worked_out_once_for_jobs_like_it(monkeypatch):
    first, second = plain(Executable="/a", Name="x"), plain(Executable="/b", Name="y")
    translate(first, "sbatch")
    monkeypatch.setattr(engine, "understood", None)  # which is not asked again
    assert "exec /b" in translate(second, "sbatch").text
    with pytest.raises(TypeError):
        translate(plain(Executable="/b", Queue="y"), "sbatch")


def test_no_more_outlines_are_kept_than_a_bound(monkeypatch):
    monkeypatch.setattr(outlines, "_KNOWN", 3)
    for number in range(10):
        job = plain(Executable="/a").holding((
            Property("Executable", "/a"),
            Property("Extension", "x", {"type": "sbatch", "name": f"--x{number}"}),
        ))  # fmt: skip
        assert f"--x{number}=x" in translate(job, "sbatch").text
        assert len(engine._OUTLINES._known) <= 3


def test_of_a_job_with_long_attributes_no_outline_is_kept():
    long = Property("Extension", "x", {"type": "sbatch", "name": "-" + "x" * 5000})
    translate(Job((Property("Executable", "/a"), long)), "sbatch")
    assert not engine._OUTLINES._known
