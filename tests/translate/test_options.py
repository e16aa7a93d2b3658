"""Options of a script: which rules take, and how many there may be."""

from sssjob.systems.slurm.directives import SYNTAX
from sssjob.translate.options import Option, Said


def test_options_are_taken_by_name_and_given_back_where_they_stood():
    said = Said([Option("-a", "1"), Option("-b"), Option("-a", "2"), Option("-a", "1")])
    assert said.all("-a") == ["1", "2", "1"]
    assert said.all("-a") == []
    said.back("-a", "1", "why")
    assert said.left == [Option("-a", "1"), Option("-b"), Option("-a", "1")]
    assert said.reason(Option("-a", "1")) == "why"
    said.keep("-a", "2", "3", "a part")
    assert said.left[2] == Option("-a", "3")
    assert said.takes(Option("-b"))
    both = Said([Option("-j", "y"), Option("-j", "n")])
    assert not both.takes(Option("-j", "y"))
    assert both.takes(Option("-j", "n"))
    assert both.left == []
    assert not said.takes(Option("-b"))


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
