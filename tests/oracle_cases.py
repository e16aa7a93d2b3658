# ruff: noqa: E501 (a case is a line)
"""What real batch systems are asked to take: every option that is written for them, at least once.

``put`` gives the jobs, and ``LEFT`` what of them is not put to a system here, and why.
"""

import ast
import dataclasses
import importlib
import inspect
import re

from option_table import ROWS
from submit_cases import CONDOR, SBATCH, SGE
from translated import requested, wrapped

from sssjob.document import loads
from sssjob.systems.condor import submission
from sssjob.translate import Settings, translate, translator
from sssjob.translate.fields import Rule
from sssjob.translate.options import Option

ARRAY = '<TaskGroup><Extension type="array" name="indices">1-3</Extension><TaskCount>3</TaskCount></TaskGroup>'
# A script that no shell reads: its variables stand in an option.
PYTHON = (
    '<Executable>#script</Executable><Environment><Variable name="A">b</Variable></Environment>'
)
FILES = {"script": b"#!/usr/bin/python3\nprint(1)\n"}
LIMITS = "".join(
    f'<ResourceLimit name="{name}" type="{type_}">2048</ResourceLimit>'
    for name in ("CPUTime", "CoreFileSize", "DataSize", "FileSize", "ResidentSetSize", "StackSize")
    for type_ in ("Hard", "Soft")
)
# What no other test has as a case of its own.
MORE = {
    "sbatch": (
        PYTHON, requested('<Disk units="MB">1</Disk>'),
        ARRAY + "<OutputFile>{{ArrayId}}.{{ArrayIndex:3}}</OutputFile>",
        "<Name>n</Name><OutputFile>{{Name}}.{{User}}.{{Node}}</OutputFile><ErrorFile>100%</ErrorFile>",
        "<TaskCount>2</TaskCount>" + requested('<Memory units="MB">20</Memory>'),
        '<NotificationList uri="mailto:amy@x.org">All</NotificationList>',
        "<Name>-x</Name><Project>p</Project>", "<Name>a b'c\"d</Name>",
        '<Extension type="nodes" name="exclusive">true</Extension>',
    ),
    "sge": (
        PYTHON, '<Checkpointable>true</Checkpointable><Extension type="sge" name="-ckpt">x</Extension>',
        ARRAY + "<OutputFile>{{Id}}</OutputFile>",
        "<Name>n</Name><OutputFile>{{Name}}.{{User}}.{{Node}}</OutputFile>",
        LIMITS, "<Shell>/bin/bash</Shell>",
        requested('<Processors>2</Processors><Resource name="matlab" type="License">2</Resource>'),
        requested('<Resource name="GPU" type="a100">1</Resource>'),
    ),
    "condor": (
        "<Arguments>a 'b c' \"d\"</Arguments>",
        "<OutputFile>{{Id}}.{{ArrayId}}.{{ArrayIndex}}</OutputFile>",
        '<ErrorFile redirectList="Flush">e</ErrorFile><InputFile>i</InputFile>',
        requested('<Resource name="GPU" type="a100">1</Resource>'),
        requested('<Feature preference="-1">ssd</Feature><Memory units="MB">10</Memory>'),
        requested('<Node aggregation="Pattern">n.*</Node><Architecture>X86_64</Architecture>'),
        '<NotificationList uri="mailto:amy@x.org">None</NotificationList>',
        "<Hold>System</Hold><Priority>7</Priority>",
    ),
}  # fmt: skip
TABLES = {"sbatch": SBATCH, "sge": SGE, "condor": CONDOR}

# Parts of jobs that the systems of the tests cannot take, and why.
LEFT = {
    "sbatch": {
        "<Machine>": "there is no other cluster",
        'name="GPU"': "no node has GPUs",
        "n[01-03]": "no node is called so",
        "n[1-3]": "there are two nodes",
        '<Memory units="GB">': "no node has so much memory",
        '<Disk units="GB">': "no node has so much scratch space",
    },
    "sge": {
        "<Reservation>": "a reservation has an id that the system gives",
        "<Dependency": "jobs 7 and 8 are not there",
        '"-ckpt"': "there is no checkpointing environment",
        ">mpi<": "there is no such parallel environment",
    },
    "condor": {},
}
# Options that no job above can show the system of the tests.
UNPUT = {
    "sbatch": {"--clusters", "--gpus"},
    "sge": {"-ar", "-hold_jid", "-ckpt"},
    "condor": set(),
}  # fmt: skip


def job(inner):
    """A job with a program."""
    return loads(f"<Job><Id>1</Id>{inner}</Job>" if "<Executable>" in inner else wrapped(inner))


def written(inner, target):
    """What a job becomes."""
    return translate(job(inner), target, Settings(residual=False, files=FILES)).text


def cases(target):
    """All jobs of the tables, of which the target is told something, each once."""
    plain = written("", target)
    rows = [inner for inner, _ in TABLES[target]]
    rows += [inner for inner in ROWS if written(inner, target) != plain]
    return [*dict.fromkeys((*rows, *MORE[target]))]


def put(target):
    """The jobs that are put to the system."""
    return [inner for inner in cases(target) if not any(part in inner for part in LEFT[target])]


def options(inner, target):
    """The names of the options that a job becomes."""
    (found,) = translator(target).load(written(inner, target).encode())
    return {option.name for option in found.options}


def declared(target):
    """The names of all options that are written for a target, as its rules and its code name them."""
    if target == "condor":
        return {*submission.WRITTEN}
    form = translator(target).form
    module = importlib.import_module(type(form.layout).__module__)
    found = {name for rule in (*form.rules, *form.in_script) for name in _names(rule)}
    found |= {*_literals(module), form.shell, form.array.option}
    looks = re.compile(r"--[a-z-]+" if target == "sbatch" else r"-\w+( \w+)?")
    return {name for name in found if looks.fullmatch(name)}


def _names(rule):
    """The options of a rule."""
    assert isinstance(rule, Rule)
    for each in dataclasses.fields(rule) if dataclasses.is_dataclass(rule) else ():
        value = getattr(rule, each.name)
        if isinstance(value, Option):
            yield value.name
        elif each.name in ("option", "input", "output", "error", "events", "to", "below"):
            yield value if isinstance(value, str) else ""
        elif each.name == "options":
            yield from value.values()


def _literals(module):
    """What code names where it makes an option."""
    tree = ast.parse(inspect.getsource(module))
    for call in ast.walk(tree):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "option"
        ):
            match call.args[0]:
                case ast.Constant(value):
                    yield value
                case ast.Name(id=name) if isinstance(value := getattr(module, name, None), str):
                    yield value
