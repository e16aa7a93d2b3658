"""Requests against an evaluator that tries everything: verdict, score, reasons, alternatives."""

import os
import random
from fractions import Fraction

import match_oracle as oracle
import pytest
from draws import cases
from match_requests import offered, requested

from sssjob import expression
from sssjob.errors import LimitExceeded
from sssjob.expression.columns import Columns
from sssjob.expression.evaluate import Offer, Request
from sssjob.model import Property

CASES = cases(400)
SEED = int(os.environ.get("SSSJOB_SEED", "1"))
PARTS = 8
OFFERS = 4  # that a request is asked of before and after it is written

VERDICTS = ["no", "unknown", "yes"]

pytestmark = pytest.mark.explore


def difference(choose):
    """What a random request and a random offer are answered otherwise, or nothing."""
    asked, (given, none) = requested(choose), offered(choose)
    mode = choose.choice(("fit", "fit", "exact"))
    made = Offer.of("o", given, mode)
    offer = Offer("o", {**dict.fromkeys(none, ()), **made.facts}, mode)
    request = Request(expression.parse(asked))
    answer = request.answer(offer)
    wanted, known = oracle.Asked(asked), oracle.Given(given, none)
    verdict, score = wanted.best(known, mode)
    told = {
        "verdict": (str(answer.verdict), VERDICTS[verdict]),
        "quick verdict": (str(request.verdict(offer)), VERDICTS[verdict]),
        "score": (score if is_certain_of(answer.score, score, verdict) else answer.score, score),
        "reasons": (reasons(answer), expected(wanted, known, mode, verdict, answer)),
    }
    if len(asked) < 6:  # of more there may be thousands
        told["alternatives"] = alternatives(request.expression), wanted.listed()
    differ = {name: pair for name, pair in told.items() if pair[0] != pair[1]}
    return (differ, str(request.expression), asked, given, none, mode) if differ else None


def is_certain_of(told, score, verdict):
    """Of an unknown verdict a score is what is certain of it, which is no more than the best."""
    return 0 <= told <= score if verdict == oracle.UNKNOWN else told == score


def reasons(answer):
    return {
        oracle.CONFLICT
        if each.startswith("no amount of ")
        else oracle.NEVER
        if each.startswith("a negated group")
        else each.split(": ")[0]
        for each in answer.reasons
    }


def alternatives(read):
    found = expression.alternatives(read, 10_000)
    assert found.complete
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    return sorted((each.score, sorted(map(str, each.terms))) for each in found)


def expected(wanted, known, mode, verdict, answer):
    """The reasons: of a yes with the amounts that were taken, else of each part by itself."""
    if verdict == oracle.YES and mode == "fit":
        point = {key: taken(answer, key, known) for key in wanted.keys(wanted.whole)}
        return wanted.reasons(wanted.whole, lambda part: wanted.truth(part, known.facts, point))
    return wanted.reasons(wanted.whole, lambda part: wanted.alone(part, known, mode))


def taken(answer, key, known):
    """What the answer says was taken; what it does not mention is not known or cannot be had."""
    name, resource = key
    slot = f"Resource[name={resource!r}]" if resource else name
    if key not in known.facts:
        return None
    unit = 2**20 if name in ("Memory", "Disk") else 1
    return Fraction(answer.taken[slot], unit) if slot in answer.taken else oracle.NOTHING


@pytest.mark.parametrize("part", range(PARTS))
def test_requests_are_answered_as_by_trying_everything(part):
    choose = random.Random(SEED * PARTS + part)
    for _ in range(CASES // PARTS):
        assert difference(choose) is None


def rewritten(choose):
    """Where what is written of a request means something else, to us or from left to right."""
    asked = requested(choose)
    written = expression.write(expression.parse(asked))
    before, after = oracle.Asked(asked), oracle.Asked(written)
    from_left = oracle.Asked(written, precedence=False)
    for _ in range(OFFERS):
        given, none = offered(choose)
        known, mode = oracle.Given(given, none), choose.choice(("fit", "exact"))
        verdict, score = before.best(known, mode)
        again, same = after.best(known, mode)
        left = verdict if negates_twice(asked) else from_left.best(known, mode)[0]
        told = again, same if verdict == oracle.YES else score, left
        if told != (verdict, score, verdict):
            return told, (verdict, score, verdict), asked, written, given, none, mode
    return None


def negates_twice(asked):
    """Preferences in what is negated twice: for these readers from left to right have no form."""
    stack = []
    for item in asked:
        negated, group = (
            item.attributes.get("conj") in ("Nand", "Nor"),
            int(item.attributes.get("group", 0)),
        )
        stack += [negated, *(False,) * (group - 1)] * (group > 0)
        around = sum(stack) + (negated and group <= 0)
        if around > 1 and "preference" in item.attributes:
            return True
        del stack[len(stack) + min(group, 0) :]
    return False


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_written_means_the_same_to_us_and_from_left_to_right(part):
    choose = random.Random(SEED * PARTS + part)
    for _ in range(CASES // PARTS):
        assert rewritten(choose) is None


def preferring(op, text, weight, conj=None, group=None):
    said = {"op": op, "preference": weight, "conj": conj, "group": group}
    return Property("Disk", text, {key: value for key, value in said.items() if value is not None})


# Each is Not (... And Not OneOf(b) Or Not OneOf(c)): b and c are of one group, and hold together.
NEGATED_TWICE = [
    [preferring("EQ", "3.5", "2", "Nand", "1"), preferring("LT", "3", "1", "Nand"),
     preferring("LT", "3.5", "3", "Nor", "-1")],
    [preferring("GT", "2.5", "3", "Nand", "1"), preferring("EQ", "2", "2", "Or"),
     preferring("LT", "3", "1", "Nand"), preferring("NE", "1", "2", "Nor", "-1")],
    [preferring("GT", "1.5", "1", "Nand", "1"), preferring("GT", "3.5", "2", "Nand"),
     preferring("GT", "2", "1", "Nor", "-1")],
]  # fmt: skip


@pytest.mark.parametrize("asked", NEGATED_TWICE)
@pytest.mark.parametrize("mode", ["fit", "exact"])
def test_of_a_group_that_is_negated_twice_the_heaviest_counts(asked, mode):
    read, wanted = expression.parse(asked), oracle.Asked(asked)
    request = Request(read)
    disks = [Fraction(number, 2) for number in range(1, 10)]
    offers = [Offer.of("o", [Property("Disk", str(float(disk)))], mode) for disk in disks]
    told, best = [], []
    for disk, offer in zip(disks, offers, strict=True):
        verdict, score = wanted.best(oracle.Given([Property("Disk", str(float(disk)))]), mode)
        best.append((VERDICTS[verdict], score))
        answer = request.answer(offer)
        told.append((str(answer.verdict), answer.score))
    assert told == best
    assert any(verdict == "yes" for verdict, _ in best)
    assert alternatives(read) == wanted.listed()
    found = Columns({"Disk": [float(disk) for disk in disks]}, mode=mode).ask(request)
    assert [found.score(place) for place in range(len(disks))] == [score for _, score in best]


def test_too_many_ways_to_choose_among_preferences_negated_twice_are_an_error():
    """Thirty rows of three would be 3^30 ways; in a request that is not negated there is none."""
    rows = [
        each
        for number in range(30)
        for each in (
            preferring("EQ", str(number), "2", "Nor"),
            preferring("LT", "3", "1", "Nand"),
            preferring("GT", "4", "1", "Nand"),
        )
    ]
    asked = [rows[0].having(conj="Nand", group="1"), *rows[1:-1], rows[-1].having(group="-1")]
    with pytest.raises(LimitExceeded, match="negated twice"):
        Request(expression.parse(asked))
    assert Request(expression.parse([rows[0].having(conj=None, group="1"), *asked[1:]]))
