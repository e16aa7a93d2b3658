"""Options of a script: which rules take, and how many there may be."""

import pytest

from sssjob.errors import InvalidValue
from sssjob.systems.slurm.directives import SYNTAX
from sssjob.translate import read, translator
from sssjob.translate.options import Option, ScriptOptions


def test_options_are_taken_by_name_and_given_back_where_they_stood():
    said = ScriptOptions([Option("-a", "1"), Option("-b"), Option("-a", "2"), Option("-a", "1")])
    assert said.all("-a") == ["1", "2", "1"]
    assert said.all("-a") == []
    said.back("-a", "1", "why")
    assert said.left == [Option("-a", "1"), Option("-b"), Option("-a", "1")]
    assert said.reason(Option("-a", "1")) == "why"
    said.keep("-a", "2", "3", "a part")
    assert said.left[2] == Option("-a", "3")
    assert said.takes(Option("-b"))
    both = ScriptOptions([Option("-j", "y"), Option("-j", "n")])
    assert not both.takes(Option("-j", "y"))
    assert both.takes(Option("-j", "n"))
    assert both.left == []
    assert not said.takes(Option("-b"))


@pytest.mark.parametrize(("name", "value"), [("-a", "2"), ("-b", "1"), ("-a", None)])
def test_what_was_never_taken_is_not_given_back_in_silence(name, value):
    said = ScriptOptions([Option("-a", "1")])
    said.last("-a")
    with pytest.raises(LookupError, match="no option -"):
        said.back(name, value)


class Counted(dict):
    """A table that counts how often somebody walks through it."""

    walks = 0

    def __iter__(self):
        Counted.walks += 1
        return super().__iter__()


def test_an_option_that_nobody_knows_costs_no_walk_through_the_table():
    from dataclasses import replace

    syntax = replace(SYNTAX, takes=Counted(SYNTAX.takes))
    list(syntax.options("--odd=1"))
    before = Counted.walks
    for number in range(100):
        assert list(syntax.options(f"--odd{number}=1")) == [Option(f"--odd{number}", "1")]
    assert Counted.walks == before
    assert list(syntax.options("--job-n=x")) == [Option("--job-name", "x")]
    assert list(syntax.options("--mail=x")) == [Option("--mail", "x")]


@pytest.mark.parametrize(("text", "name", "told"), [
    ("#!/bin/sh\n#SBATCH --nodes=2\n#SBATCH --nodes=4\n", "sbatch", ("--nodes 2", "--nodes 4", 2)),
    ("#!/bin/sh\n#PBS -N a\n#PBS -N b\n", "pbs", ("-N a", "-N b", 2)),
    ("executable = /bin/date\npriority = 7\npriority = 3\nqueue\n", "condor",
     ("priority 7", "priority 3", 2)),
])  # fmt: skip
def test_an_option_that_another_behind_it_replaces_is_told(text, name, told):
    (found,) = read(text.encode(), name)
    old, new, line = told
    said = [(each.message, each.line) for each in found.findings]
    assert said == [(f"{old} does not count: {new} stands behind it", line)]


@pytest.mark.parametrize("name", ["sbatch", "pbs", "torque", "sge", "lsf"])
def test_an_option_alone_on_its_line_is_read_as_one_among_others(name):
    syntax = translator(name).form.syntax

    def among_others(text):
        return [*syntax._options(syntax.split(text))]

    values = (
        "",
        "=",
        "=x",
        "=a=b",
        "=,",
        "='a b'",
        '="',
        "=a b",
        "=nodes=2:ppn=4",
        "x",
        "=-x",
        " y",
    )
    known = [*syntax.takes, *syntax.also, "--no", "--ntask", "--mem-per", "--", "-", "x", "-l"]
    for text in (f" {option}{value}" for option in known for value in values):
        alone, among = (read_or_refused(syntax.options, text), read_or_refused(among_others, text))
        assert alone == among, text


def read_or_refused(read, text):
    try:
        return read(text)
    except InvalidValue as error:
        return str(error)
