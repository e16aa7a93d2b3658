"""Jobs of several outlines, with texts of all kinds, and all that a translation says of one."""

from sssjob import Job, Property, Requested, translate
from sssjob.errors import SSSJobError
from sssjob.model import Note, TaskGroup

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
