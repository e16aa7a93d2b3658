"""Jobs that differ in their texts alone: what is known of one is true of all of them."""

import random

import pytest

from sssjob import Job, Property, Requested, translate
from sssjob.errors import SSSJobError
from sssjob.model import Note, TaskGroup
from sssjob.translate import Settings, engine, outlines
from sssjob.translate.outlines import Outlines

TEXTS = {
    "Name": ("a", "of two words", " ", "\x85"),
    "Priority": ("7", "0", "much"),
    "Queue": ("batch", "two words", "a,b"),
    "Executable": ("/bin/true", "run", "#s", "/a b", "/a\nb"),
    "Arguments": ("", "a 'b c'", "'open"),
    "InitialWorkingDirectory": ("/tmp", "", "/a\nb"),
    "OutputFile": ("/o", "{{Id}}.o", "a%j", "x\\y"),
    "Dependency": ("12", "x"),
    "NotificationList": ("JobEnd", "Nothing", "JobEnd,Else"),
    "State": ("Idle", "Completed"),
    "User": ("amy",),
    "NodeCount": ("1", "4", "0", "1.5", "x"),
    "Processors": ("8", "3", "x"),
    "Memory": ("1", "1.5", "0.1", "0", "x"),
    "Duration": ("60", "x"),
    "Feature": ("avx2", "a b"),
}
VALUES = ("1", "a b", "x\ny", "'", "\0")
SETTINGS = (
    Settings(),
    Settings(unstated="Reject", residual=False),
    Settings(memory_scope="node", residual=False),
    Settings(unstated="Ignore", memory_scope="task"),
)


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setattr(engine, "_OUTLINES", Outlines())


def _property(name, pick, **attributes):
    return Property.read(name, pick(TEXTS[name]), attributes)


def jobs(pick):
    """Jobs of several outlines, with texts that are picked."""
    own = [_property(name, pick) for name in list(TEXTS)[:8]]
    asked = [_property(name, pick) for name in list(TEXTS)[11:]]
    variable = Property.read("Variable", pick(VALUES), {"name": "A"})
    environment = Property("Environment", "", {}, (variable,))
    sized = _property("Memory", pick, units="GB")
    yield Job((*own, environment, Requested(asked)))
    yield Job((Requested(asked), *own), {"awarenessPolicy": "Reject"})
    yield Job((*own, _property("State", pick), _property("Memory", pick)))
    yield Job((*own, _property("User", pick), Requested((sized, sized))))
    yield Job((*own, Requested((sized, *asked), {"awarenessPolicy": "Ignore"})))
    yield Job((*own, Requested((_property("Memory", pick, context="Configured"), *asked[:2]))))
    yield Job((*own, Requested((_property("Feature", pick, awarenessPolicy="Warn"), *asked[:1]))))
    yield Job((*own, *own, Requested(asked[:3])))
    yield Job((*own, _property("NotificationList", pick)))
    yield Job((*own, _property("NotificationList", pick, awarenessPolicy="Reject")))
    yield Job((*own, Requested((_property("NotificationList", pick),))))
    yield Job((*own, Requested((_property("NodeCount", pick, op="GE"),))))
    yield Job((*own, Requested(asked[:2]), Requested(asked[2:])))
    yield Job((*own, Property("Extension", "--mem", {"type": "sbatch", "name": "order"})))
    yield Job((*own, Property("Unheard", "of"), Requested(asked)))
    yield Job((*own, TaskGroup((Property("TaskCount", 2),)), Note("comment", "nothing")))


def told(job, to, settings):
    """All that is said of a job: its text and its losses, or why there is none."""
    try:
        found = translate(job, to, settings)
    except SSSJobError as error:
        return type(error), str(error), getattr(error, "losses", ())
    return found.text, found.losses, found.files


@pytest.mark.parametrize("to", ["sbatch", "pbs", "sge", "lsf", "condor", "jsdl", "flux", "psij"])
def test_a_job_is_translated_behind_others_as_it_is_alone(to, monkeypatch):
    pick = random.Random(16).choice
    found = [job for _ in range(60) for job in jobs(pick)]
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
