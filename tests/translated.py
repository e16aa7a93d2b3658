"""What holds for every target that is written and read."""

from lxml import etree
from strategies import documents

from sssjob.defaults import resolve
from sssjob.document import dumps, loads
from sssjob.document.bridge import from_tree
from sssjob.document.canonical import canon
from sssjob.errors import InvalidValue
from sssjob.model import Note, Property
from sssjob.translate import Settings, Untranslatable, read, translate

# A job with everything that specifications have a word for.
FULL = """<Job awarenessPolicy="Warn"><Id>7</Id><Name>run me</Name>
  <Executable>/bin/sh</Executable><Arguments>-c 'echo "a b"; exit 3' x</Arguments>
  <InitialWorkingDirectory>/home/amy</InitialWorkingDirectory><Queue>long</Queue>
  <Project>physics</Project><QualityOfService>gold</QualityOfService>
  <OutputFile>o.txt</OutputFile><ErrorFile redirectList="Append">e.txt</ErrorFile>
  <Environment export="false"><Variable name="A">x
y"z', $HOME</Variable></Environment><TaskCount>8</TaskCount>
  <TaskDistribution type="TasksPerNode">4</TaskDistribution>
  <TaskDistribution type="ProcessorsPerTask">2</TaskDistribution>
  <Dependency condition="OnExit">17</Dependency><EligibleTime>1900000000</EligibleTime>
  <Hold>User</Hold><Priority>5</Priority><Restartable>false</Restartable>
  <NotificationList uri="amy@x.org">JobEnd</NotificationList>
  <ResourceLimit name="CPUTime">600</ResourceLimit>
  <ResourceLimit name="StackSize" units="MB">8</ResourceLimit>
  <Extension name="foo" type="mine">bar</Extension>
  <Requested><NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount>
    <Memory units="GB">3</Memory><Disk units="MB">100</Disk><Duration op="LE">3661</Duration>
    <Feature>ib</Feature><Feature>big</Feature><Resource name="GPU">8</Resource>
    <Architecture>x86_64</Architecture><OperatingSystem>Linux</OperatingSystem>
    <Node aggregation="Range">n[1-4]</Node></Requested></Job>"""

JOBS = documents(("Job",))


def job_of(tree):
    """A document as a job that a script can run."""
    job = from_tree(etree.fromstring(etree.tostring(tree)))
    kept = [
        item
        for item in job.items
        if not isinstance(item, Note) and item.name not in ("Executable", "Arguments")
    ]
    if not job.id:
        kept.append(Property("Id", "1"))
    runs = (Property("Executable", "/bin/true"), Property("Arguments", "-x 'a b'"))
    return job.holding((*kept, *runs))


def comes_back(job, target):
    """A job is the same after it was written and read; False where it is not written."""
    effective = resolve(job).block
    try:
        text = translate(job, target, Settings(unstated="Ignore")).text
    except (InvalidValue, Untranslatable):
        return False
    (found,) = read(text.encode(), target)
    assert not [each for each in found.findings if each.code == "W-DISAGREE"], text
    assert canon(found.job) == canon(effective), text
    return True


def script(prefix, lines):
    """A submit script whose program is one that we would write."""
    directives = "".join(f"{prefix} {line}\n" for line in lines)
    return f"#!/bin/sh\n{directives}exec /bin/true\n".encode()


def wrapped(inner):
    """A document with a program."""
    return f"<Job><Id>1</Id><Executable>/bin/true</Executable>{inner}</Job>"


def requested(inner):
    return f"<Requested>{inner}</Requested>"


def options_of(inner, target, **settings):
    """The directives of a job, without the prefix."""
    text = translate(loads(wrapped(inner)), target, Settings(residual=False, **settings)).text
    return [
        line.split(" ", 1)[1] for line in text.splitlines() if line[:1] == "#" and line[1:2] != "!"
    ]


def losses_of(inner, target):
    """What a target does not hold of a job, but for facts."""
    losses = translate(loads(wrapped(inner)), target).losses
    return [loss for loss in losses if not loss.fact]


def said_by_script(prefix, lines, target):
    """What a script says, as XML without the program, and what is worth knowing."""
    (found,) = read(script(prefix, lines), target)
    text = dumps(found.job).removeprefix("<Job>").removesuffix("</Job>")
    return text.replace("<Executable>/bin/true</Executable>", ""), found.findings
