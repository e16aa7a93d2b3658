"""Requests made to cost: an answer or a clear error, in steps that are counted before."""

from fractions import Fraction

import pytest
from click.testing import CliRunner

from sssjob import expression
from sssjob.cli import sssjob
from sssjob.document import loads
from sssjob.errors import LimitExceeded
from sssjob.expression.alternative import STEPS


def job(inner):
    return f"<Job><Id>1</Id><Requested>{inner}</Requested></Job>"


def many(form, count):
    return "".join(form.format(i, i + 1, i + 4) for i in range(count))


TWO_WAY = '<Feature group="1">a{0}</Feature><Feature conj="Or" group="-1">b{0}</Feature>'
SHARED = (
    '<Memory op="GE" units="MB" group="1">{0}</Memory>'
    '<Memory op="LE" units="MB" conj="Or" group="-1">{2}</Memory>'
)
PAIRS = (
    '<Memory units="MB" group="1" preference="{1}">{0}</Memory>'
    '<Memory units="MB" preference="{2}" group="-1">{1}</Memory>'
)
OR_OF_AND = (
    '<Queue conj="Or" group="1">a{0}</Queue><Queue group="1">b{0}</Queue>'
    '<Queue conj="Or" group="-2">c{0}</Queue>'
)


@pytest.mark.parametrize("inner", [
    many(TWO_WAY, 5000), many(SHARED, 2500), many(PAIRS, 3000),
    "<Queue>q</Queue>" + many(OR_OF_AND, 3000),
])  # fmt: skip
def test_no_more_is_worked_out_than_the_steps_allow(inner):
    found = expression.alternatives(expression.of(loads(job(inner))), 1000)
    assert not found.complete
    assert 0 < len(found) == found.limit < 1000
    assert sum(len(each.terms) for each in found) <= STEPS


def test_a_long_request_with_one_choice_has_all_it_is_asked_for():
    plain = loads(job(many('<Memory op="GE" units="MB">{0}</Memory>', 10_000)))
    assert [len(each.terms) for each in expression.alternatives(expression.of(plain))] == [10_000]
    either = loads(job(many('<Queue conj="Or">q{0}</Queue>', 10_000)))
    found = expression.alternatives(expression.of(either), 10_000)
    assert (len(found), found.complete) == (10_000, True)


def test_shares_of_many_groups_are_exact():
    found = expression.alternatives(expression.of(loads(job(many(PAIRS, 3)))), 8)
    assert found.complete
    assert len(found) == 8
    assert found.best[0].score == Fraction(4, 5) + Fraction(5, 7) + Fraction(6, 9)
    assert found.best[-1].score == Fraction(1, 5) + Fraction(2, 7) + Fraction(3, 9)


WORDS = {
    "two-way groups": (many(TWO_WAY, 3000), "alternatives", "E-LIMIT"),
    "a hostile pattern": ('<Queue op="Match">(a|a?)+(b|b*)*$</Queue>', "explain", ""),
    "many counted": ('<Node op="Match">((n{1000}){1000})</Node>', "explain", "E-LIMIT"),
    "64 levels": (
        many('<Feature group="1">a{0}</Feature>', 63) + '<Queue group="-63">q</Queue>',
        "alternatives", "",
    ),
    "a range of 10^12": (
        '<Node aggregation="Range">n[0-999999999999]</Node>', "explain", "E-LIMIT",
    ),
    "contradictory counts": ("<Processors>1</Processors><Processors>2</Processors>",
                             "explain", "W-UNSAT"),
    "a count below zero": ("<Processors>-4</Processors>", "explain", ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", WORDS)
def test_each_ends_with_an_answer_or_an_error_that_says_why(tmp_path, kind):
    inner, command, code = WORDS[kind]
    (tmp_path / "job.xml").write_text(job(inner))
    done = CliRunner().invoke(sssjob, [command, str(tmp_path / "job.xml")])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.exit_code in (0, 1, 2)
    assert done.output
    assert code in done.stderr


@pytest.mark.parametrize("offered", [0, -4])
def test_nothing_fits_what_has_no_capacity(tmp_path, offered):
    (tmp_path / "job.xml").write_text(job("<Processors op='GE'>1</Processors>"))
    (tmp_path / "offers.json").write_text(f'[{{"id": "n", "Processors": {offered}}}]')
    words = ["match", str(tmp_path / "job.xml"), "--offers", str(tmp_path / "offers.json")]
    assert CliRunner().invoke(sssjob, words).exit_code in (1, 2)


def test_scores_whose_common_parts_have_too_many_digits_are_an_error():
    """A hundred groups of 4 000 digits make parts of 400 000 digits: sums take long."""
    long = "9" * 3990
    heavy = (
        '<Memory conj="Or" group="1" preference="{1}' + long + '">{0}</Memory>'
        '<Memory group="-1" preference="7">1</Memory>'
    )
    few, lots = (expression.of(loads(job(many(heavy, count)))) for count in (10, 100))
    assert len(expression.alternatives(few)) == 20
    with pytest.raises(LimitExceeded, match="bits in the sums of preferences"):
        expression.alternatives(lots)
