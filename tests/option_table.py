# ruff: noqa: E501 (a row is a line)
"""The table of docs/translate.md: what each batch system makes of a property, as it is written."""

from translated import requested, wrapped

from sssjob.document import loads
from sssjob.translate import Settings, translate

SYSTEMS = ("sbatch", "pbs", "torque", "sge", "lsf", "condor")
HEAD = f"| in a job | {' | '.join(f'`{name}`' for name in SYSTEMS)} |"
NONE = "-"

# fmt: off
ROWS = (
    "<Name>scan</Name>", "<Project>p</Project>", "<Group>g</Group>", "<QualityOfService>high</QualityOfService>", "<Queue>q</Queue>",
    "<Partition>x</Partition>", "<Machine>m</Machine>", "<Reservation>R7</Reservation>",
    requested("<NodeCount>2</NodeCount>"),
    requested('<NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount>'),
    requested("<Processors>8</Processors>"),
    requested('<Processors op="GE">4</Processors><Processors op="LE">8</Processors>'),
    "<TaskCount>4</TaskCount>",
    '<TaskDistribution type="TasksPerNode">4</TaskDistribution>' + requested("<NodeCount>2</NodeCount>"),
    "<TaskCount>4</TaskCount>" + requested("<Processors>8</Processors>"),
    '<TaskDistribution type="Rule">RoundRobin</TaskDistribution>',
    requested('<Memory units="GB">2</Memory>'), requested('<Swap units="GB">2</Swap>'),
    requested('<Disk units="GB">2</Disk>'), requested('<Resource name="License" type="x">3</Resource>'),
    requested('<Resource name="GPU">2</Resource>'), requested("<Duration>3661</Duration>"),
    '<ResourceLimit name="CPUTime">90</ResourceLimit>', '<ResourceLimit name="StackSize">2048</ResourceLimit>',
    "<EligibleTime>1800000000</EligibleTime>", "<DeadlineTime>1800000000</DeadlineTime>",
    "<Dependency>7</Dependency>", '<Dependency condition="OnFailure">7</Dependency>',
    '<Dependency condition="OnExit">7</Dependency>', '<Dependency condition="OnExit" code="3">7</Dependency>',
    "<Hold>User</Hold>", "<Priority>5</Priority>", "<Priority>-5</Priority>", "<Restartable>true</Restartable>",
    "<Restartable>false</Restartable>", "<Interactive>true</Interactive>", "<Shell>/bin/bash</Shell>",
    "<InitialWorkingDirectory>/data</InitialWorkingDirectory>",
    '<Environment export="true"/>', '<Environment export="false"/>',
    '<Environment><Variable name="A">it\'s</Variable></Environment>',
    "<OutputFile>o</OutputFile><ErrorFile>e</ErrorFile><InputFile>i</InputFile>",
    '<OutputFile redirectList="Append">o</OutputFile>', '<OutputFile>o</OutputFile><ErrorFile redirectList="Merge"/>',
    '<OutputFile redirectList="Keep"/>', '<OutputFile redirectList="Close"/>', '<OutputFile redirectList="Flush">o</OutputFile>',
    '<NotificationList uri="mailto:a@b.org">JobEnd</NotificationList>',
    requested("<Feature>ib</Feature><Feature>ssd</Feature>"),
    requested('<Feature>ib</Feature><Feature conj="Or">ssd</Feature>'),
    requested('<Feature preference="-1">ib</Feature>'),
    requested('<Node aggregation="Range">n[1-2]</Node>'), requested('<Node op="NE">n1</Node>'),
    requested('<Node aggregation="Pattern">n.*</Node>'), requested("<Architecture>x86_64</Architecture>"),
    requested("<OperatingSystem>Linux</OperatingSystem>"), "<Checkpointable>false</Checkpointable>",
)
# fmt: on
_ALWAYS = {"#!/bin/sh", "-S /bin/sh", "executable = /bin/true", "queue", "exec /bin/true"}


def table():
    """The lines of the table."""
    yield HEAD
    yield f"|{' --- |' * (len(SYSTEMS) + 1)}"
    for inner in ROWS:
        yield f"| {' | '.join(_cells(inner))} |"


def _cells(inner):
    """A property, and what is written for it."""
    shown = inner.replace("<Requested>", "").replace("</Requested>", "")
    return [_code(shown), *(_said(inner, name) for name in SYSTEMS)]


def _said(inner, target):
    text = translate(loads(wrapped(inner)), target, Settings(residual=False)).text
    lines = [_plain(line.strip()) for line in text.splitlines()]
    return ", ".join(_code(line) for line in lines if line not in _ALWAYS) or NONE


def _plain(line):
    for prefix in ("#SBATCH ", "#PBS ", "#$ ", "#BSUB "):
        line = line.removeprefix(prefix)
    return line


def _code(text):
    return f"`{text}`".replace("|", "\\|")
