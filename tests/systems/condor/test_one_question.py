"""What is asked of one ad is one question: its steps are counted together, whoever asks."""

import pytest

from sssjob.classads import evaluate
from sssjob.classads.evaluate import attribute, matches
from sssjob.classads.parser import plain
from sssjob.classads.question import OneQuestion, one_question
from sssjob.classads.values import ERROR, Ad
from sssjob.systems.condor import offers, slot
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.condor.why import obstacles

LIMIT = 2000


@pytest.fixture
def steps(monkeypatch):
    """How often a part of an expression was worked out."""
    taken = []
    value = evaluate._Evaluation.value

    def counted(self, node, scope):
        taken.append(1)
        return value(self, node, scope)

    monkeypatch.setattr(evaluate, "STEPS_LIMIT", LIMIT)
    monkeypatch.setattr(evaluate._Evaluation, "value", counted)
    return taken


def doubling(**attributes):
    """An ad of which ``A0`` takes more steps than one may take."""
    parts = [f"A{n} = A{n + 1} + A{n + 1}" for n in range(14)]
    parts += ["A14 = 1", *(f"{name} = {text}" for name, text in attributes.items())]
    return plain(f"[{'; '.join(parts)}]")


@pytest.mark.parametrize("clauses", [1, 4, 40])
def test_clauses_of_why_share_their_steps(steps, clauses):
    ad = doubling(Requirements=" && ".join(["A0 > 1"] * clauses))
    found = list(obstacles(ad, ad))
    assert len(steps) < LIMIT + 200
    assert found[0].value == "error (the expression is too deep or too long to be evaluated)"
    assert len(found) <= 2


@pytest.mark.parametrize("clauses", [50, 100, 200])
def test_a_long_sum_in_many_clauses_is_bound_too(steps, clauses):
    sums = {"A": " + ".join("1" * clauses), "Requirements": " && ".join(["A > 1"] * clauses)}
    list(obstacles(plain(f"[{'; '.join(f'{a} = {b}' for a, b in sums.items())}]"), Ad()))
    assert len(steps) < LIMIT + 3 * clauses + 200


ROADS = {
    "match": lambda ad: matches(ad, ad),
    "offer": offers.offer,
    "job": to_job,
    "features of a slot": slot.machine_features,
    "features of a job": lambda ad: slot.job_features(ad, ad),
    "amounts that lack": lambda ad: [*obstacles(ad, ad)],
}
ASKED = [
    "Requirements", "Start", "Rank", "Cpus", "Memory", "Disk", "TotalCpus", "DetectedCpus",
    "DetectedPhysicalCpus", "DetectedMemory", "TotalDisk", "MachineMaxVacateTime",
    "RequestCpus", "RequestMemory", "RequestDisk", "RemoteWallClockTime", "RemoteUserCpu",
    "RemoteSysCpu", "ImageSize", "DiskUsage", "MemoryUsage", "QDate", "JobStartDate",
    "CompletionDate", "ExitCode", "JobPrio", "MaxHosts", "MinHosts", "EnteredCurrentActivity",
]  # fmt: skip


@pytest.mark.parametrize("road", ROADS)
def test_every_road_counts_the_steps_of_an_ad_together(road, steps):
    ROADS[road](doubling(**dict.fromkeys(ASKED, "A0")))
    assert len(steps) < LIMIT + 300


def test_a_question_in_a_question_is_a_part_of_it(steps):
    ad = doubling()
    with OneQuestion() as outer:
        assert attribute(ad, "A0") is ERROR
        taken = len(steps)
        for _ in range(5):
            with OneQuestion() as inner:
                assert inner is outer
                assert attribute(ad, "A13") is ERROR
        assert len(steps) < taken + 10
    assert attribute(ad, "A13") == 2


def test_what_was_asked_before_counts_for_nothing_behind_it(steps):
    asked = one_question(lambda ad: attribute(ad, "A0"))
    assert asked(doubling()) is ERROR
    assert asked(plain("[A0 = 1 + 2]")) == 3
