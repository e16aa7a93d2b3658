"""Jobs and task groups with defaults at every level, against an oracle of its own."""

import os
import random

import defaults_oracle
import match_oracle
import pytest
from defaults_oracle import Unit
from draws import cases
from match_requests import COUNTS, HALVES, offered, requested

from sssjob import match
from sssjob.defaults import resolve
from sssjob.document import dumps, loads
from sssjob.expression.offer import Offer
from sssjob.model import (
    Job,
    JobDefaults,
    JobGroup,
    Property,
    Requested,
    TaskGroup,
    TaskGroupDefaults,
)

CASES = cases(200)
SEED = int(os.environ.get("SSSJOB_SEED", "1"))
PARTS = 4
VERDICTS = ["no", "unknown", "yes"]
OFFERS = 3  # that each job and task group is asked of

pytestmark = pytest.mark.explore


def unit(choose, *, below=False, inner=()):
    """What a block says: up to two Requested, some amounts of its own, what lends to others."""
    names = choose.sample(("Processors", "Disk", "Memory"), choose.choice((0, 0, 0, 1, 2)))
    own = tuple(
        Property(name, choose.choice(COUNTS if name == "Processors" else HALVES)) for name in names
    )
    blocks = tuple(short(choose) for _ in range(choose.choice((0, 1, 1, 1, 2))))
    lent = unit(choose) if below and choose.random() < 0.6 else None
    return Unit(own, blocks, lent, inner)


def short(choose):
    """A random request of few names: with defaults, each case asks for several of them."""
    while True:
        asked = requested(choose)
        if len(asked) < 5 and not any(each.name == "Resource" for each in asked):
            return tuple(asked)


def document(choose):
    jobs = tuple(
        unit(choose, below=True, inner=tuple(unit(choose) for _ in range(choose.randint(0, 2))))
        for _ in range(choose.randint(1, 2))
    )
    return Unit((), (), unit(choose, below=True) if choose.random() < 0.8 else None, jobs)


def written(group):
    """The group as XML, and read again: nothing but the document is shared."""

    def items(said):
        return (*said.own, *(Requested(tuple(each)) for each in said.requested))

    def defaults(kind, said):
        if said is None:
            return ()
        return (kind((*items(said), *defaults(TaskGroupDefaults, said.below))),)

    jobs = (
        Job((
            Property("Id", str(number)), *items(job), *defaults(TaskGroupDefaults, job.below),
            *(TaskGroup(items(each)) for each in job.inner),
        ))
        for number, job in enumerate(group.inner)
    )  # fmt: skip
    return loads(dumps(JobGroup((Property("Id", "g"), *defaults(JobDefaults, group.below), *jobs))))


def difference(choose):
    """What a job or a task group of a random document is answered otherwise, or nothing."""
    group = document(choose)
    effective = resolve(written(group)).block
    blocks = [each for job in effective.jobs for each in (_alone(job), *job.task_groups)]
    for block, wanted in zip(blocks, defaults_oracle.requests(group), strict=True):
        for _ in range(OFFERS):
            (given, none), mode = offered(choose), choose.choice(("fit", "exact"))
            made = Offer.of("o", given, mode)
            offer = Offer("o", {**dict.fromkeys(none, ()), **made.facts}, mode)
            verdict, score = wanted.best(match_oracle.Given(given, none), mode)
            (answer,) = match(block, [offer])
            told = str(answer.verdict), answer.score
            if told[0] == "unknown" == VERDICTS[verdict]:  # its score is what is certain of it
                told = told[0], score if 0 <= told[1] <= score else told[1]
            if told != (VERDICTS[verdict], score):
                return (
                    told,
                    (VERDICTS[verdict], score),
                    dumps(written(group)),
                    dumps(block),
                    given,
                    mode,
                )
    return None


def _alone(job):
    """A job by itself; what its task groups request beside it is another matter."""
    return job.holding(item for item in job.items if not isinstance(item, TaskGroup))


@pytest.mark.parametrize("part", range(PARTS))
def test_jobs_and_task_groups_ask_for_what_their_defaults_leave(part):
    choose = random.Random(SEED * PARTS + part)
    for _ in range(CASES // PARTS):
        assert difference(choose) is None
