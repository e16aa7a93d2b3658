# ruff: noqa: E501 (a row is a line)
"""What is a loss, and what is none."""

import pytest
from hypothesis import given
from job_parts import OWN, REQUESTED, document, name_of, picked
from translated import losses_of, requested, wrapped

from sssjob import registry
from sssjob.delivery.runs import fold_run
from sssjob.document import loads
from sssjob.errors import InvalidValue
from sssjob.translate import Settings, Untranslatable, read, translate


# Attributes of a request mean nothing of what a job says itself.
@pytest.mark.parametrize("target", ["sbatch", "pbs", "torque", "sge", "lsf", "condor", "slurmrest", "psij", "jsdl", "flux"])  # fmt: skip
@pytest.mark.parametrize(
    ("inner", "keys"),
    [
        ('<Dependency op="NE" conj="Or" group="1" x="y">7</Dependency>', "op conj group x"),
        ('<Queue op="NE">q</Queue>', "op"),
        ('<NodeCount op="LE">4</NodeCount>', "op"),
        ('<TaskCount preference="1">4</TaskCount>', "preference"),
    ],
)
def test_an_attribute_that_nobody_takes_is_told(target, inner, keys):
    losses = losses_of(inner, target)
    whole = [loss for loss in losses if "@" not in loss.path and loss.done != "converted"]
    told = [loss.path.rpartition("@")[2] for loss in losses if "@" in loss.path]
    assert whole or told == keys.split()


@pytest.mark.parametrize("designator", ["GlobalId", "TaskId"])
def test_a_job_that_is_named_by_what_bsub_does_not_know_is_told(designator):
    inner = f'<Dependency designator="{designator}">7</Dependency>'
    assert [loss.path for loss in losses_of(inner, "lsf")] == ["/Job/Dependency"]


@pytest.mark.parametrize("inner", ["<Name>a b</Name>", "<Quote>q</Quote>"])
def test_a_loss_has_a_code_of_its_own_apart_from_what_is_not_understood(inner):
    losses = losses_of(inner, "pbs")
    assert losses
    assert {loss.finding().code for loss in losses} == {"E-LOSS"}


@pytest.mark.parametrize("kind", ["sbatch", "condor"])
def test_the_order_of_options_asks_for_nothing(kind):
    inner = f'<Extension type="{kind}" name="order">--odd, --mem</Extension>'
    job = loads(wrapped(inner).replace("<Job>", '<Job awarenessPolicy="Reject">'))
    for target in ("sge", "sbatch", "jsdl"):
        assert [loss.path for loss in translate(job, target).losses] == ["/Job/Id"]
    other = inner.replace(kind, "mine")
    assert [loss.path for loss in losses_of(other, "sge")] == ["/Job/Extension"]


NODES = '<Node aggregation="List">n1,n2</Node>'
GROUPS = (
    "<TaskGroup><TaskCount>2</TaskCount></TaskGroup><TaskGroup><TaskCount>3</TaskCount></TaskGroup>"
)
TILED = '<TaskCount>5</TaskCount><TaskDistribution type="TasksPerNode">2</TaskDistribution>'
# What is approximated, and whether what was asked for holds all the same.
APPROXIMATED = [
    ("lsf", "<Requested><Duration>61</Duration></Requested>", True),
    ("sbatch", '<Requested><Memory units="KB">1</Memory></Requested>', True),
    ("pbs", '<Requested><NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount></Requested>', True),
    ("condor", "<Requested><NodeCount>1</NodeCount><Processors>3</Processors></Requested>", True),
    ("sge", f"<Requested>{NODES}</Requested>", False),
    ("lsf", f"<Requested>{NODES}</Requested>", True),
    ("lsf", f"<Requested>{NODES}<Node>n3</Node><NodeCount>2</NodeCount></Requested>", False),
    ("condor", f"<Requested>{NODES}</Requested>", False),
    ("condor", "<Requested><NodeCount>2</NodeCount></Requested>", False),
    ("sbatch", GROUPS, False), ("flux", GROUPS, False),
    ("pbs", TILED + "<Requested><NodeCount>4</NodeCount></Requested>", False),
    ("flux", TILED + "<Requested><NodeCount>4</NodeCount></Requested>", False),
]  # fmt: skip


@pytest.mark.parametrize(("target", "inner", "met"), APPROXIMATED)
def test_reject_refuses_what_does_not_fulfil_what_is_asked_for(target, inner, met):
    losses = losses_of(inner, target)
    assert not [loss for loss in losses if loss.done in ("dropped", "residual")]
    assert all(loss.met for loss in losses) is met
    job = loads(wrapped(inner).replace("<Job>", '<Job awarenessPolicy="Reject">'))
    if met:
        translate(job, target)
    else:
        with pytest.raises(Untranslatable):
            translate(job, target)


# Numbers that may follow from each other, so that one of them changes nothing.
COUNTS = {"NodeCount", "Processors", "TaskCount", "TaskDistribution", "TaskGroup"}


def written(own, asked, target):
    try:
        return translate(document(own, asked), target, Settings(residual=False))
    except (InvalidValue, Untranslatable):
        return None


def silent(own, asked, target, place):
    """Whether a part is neither written nor told."""
    whole = written(own, asked, target)
    part = (own + asked)[place]
    path = f"/Job/{'Requested/' if place >= len(own) else ''}{name_of(part)}"
    if whole is None or any(
        f"{loss.path}/".startswith((f"{path}/", f"{path}@")) for loss in whole.losses
    ):
        return False
    less = [each for number, each in enumerate(own + asked) if number != place]
    cut = len(own) - (place < len(own))
    rest = written(less[:cut], less[cut:], target)
    return rest is not None and rest.text == whole.text


TARGETS = [
    name
    for name, row in registry.all_targets().items()
    if row.writes and name not in ("sss", "dagman")
]


@pytest.mark.parametrize("target", TARGETS)
@given(own=picked(OWN, 4), asked=picked(REQUESTED, 4))
def test_what_is_not_written_is_told(target, own, asked):
    names = [name_of(part) for part in own + asked]
    for place, name in enumerate(names):
        several = name in COUNTS and len(COUNTS.intersection(names)) > 1
        if not several and names.count(name) == 1:
            assert not silent(own, asked, target, place), (own + asked)[place]


# Numbers of a job that its parts have, too, and tasks where only processors are counted.
TOLD = [
    ("pbs", "<NodeCount>2</NodeCount>" + GROUPS, "/Job/NodeCount"),
    ("pbs", TILED + GROUPS, "/Job/TaskDistribution"),
    ("flux", "<TaskGroup><TaskCount>2</TaskCount><Requested><Memory>1</Memory></Requested></TaskGroup>", "/Job/TaskGroup/Requested/Memory"),
    ("flux", '<TaskDistribution type="TasksPerNode">2</TaskDistribution><Processors>3</Processors>', "/Job/TaskDistribution"),
    ("condor", "<TaskCount>4</TaskCount><Processors>8</Processors>", "/Job/TaskCount"),
    ("sge", "<TaskCount>4</TaskCount><Processors>8</Processors>", "/Job/TaskCount"),
    ("torque", "<TaskCount>4</TaskCount><Processors>8</Processors>", "/Job/TaskCount"),
    ("condor", "<Environment>text</Environment>", "/Job/Environment"),
    ("sbatch", '<ErrorFile redirectList="Merge">x</ErrorFile>', "/Job/ErrorFile"),
    ("pbs", '<ErrorFile redirectList="Merge">x</ErrorFile>', "/Job/ErrorFile"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "inner", "path"), TOLD)
def test_what_others_say_in_part_is_told(target, inner, path):
    assert path in {loss.path.partition("/@")[0] for loss in losses_of(inner, target)}


@pytest.mark.parametrize(
    ("target", "line"),
    [("condor", "request_cpus = 2"), ("pbs", "ncpus=2"), ("torque", "ppn=2"), ("flux", '"count": 2'), ("sbatch", "--cpus-per-task=2")],
)  # fmt: skip
def test_processors_of_a_task_alone_are_asked_for(target, line):
    inner = '<TaskDistribution type="ProcessorsPerTask">2</TaskDistribution>'
    assert line in translate(loads(wrapped(inner)), target, Settings(residual=False)).text


@pytest.mark.parametrize("target", ["sss", "sbatch", "slurmrest"])
def test_what_a_run_of_the_job_was_given_is_left_out_and_listed(target):
    asked = loads(
        '<Job awarenessPolicy="Reject"><Id>7</Id><Executable>./a</Executable>'
        "<DeadlineTime>1900000000</DeadlineTime></Job>"
    )
    ran = loads(
        "<Job><Id>7</Id><DeadlineTime>1800000000</DeadlineTime><ExitCode>3</ExitCode>"
        '<ResourceLimit name="CPUTime">60</ResourceLimit>'
        "<Delivered><Processors>2</Processors></Delivered></Job>"
    )
    folded = fold_run(asked, ran).job
    settings = Settings(residual=False)
    of_run = [
        (loss.path, loss.value, loss.done, loss.job)
        for loss in translate(folded, target, settings).losses
        if "a run of the job" in loss.reason
    ]
    assert of_run == [
        ("/Job/DeadlineTime", "1800000000", "dropped", "7"),
        ("/Job/ExitCode", "3", "dropped", "7"),
        ("/Job/ResourceLimit", "60", "dropped", "7"),
        ("/Job/Delivered/Processors", "2", "dropped", "7"),
    ]
    assert translate(folded, target, settings).text == translate(asked, target, settings).text


@pytest.mark.parametrize("target", sorted(registry.targets()))
@pytest.mark.parametrize(
    "request_",
    [
        "<Architecture>lx*</Architecture>",
        "<Architecture>a/b</Architecture>",
        '<NodeCount op="GE">0</NodeCount>',
        '<NodeCount op="GT">-1</NodeCount>',
        '<Processors op="GE">0</Processors>',
    ],
)
def test_what_no_target_can_ask_for_is_told_by_each(target, request_):
    job = loads(
        "<Job><Id>1</Id><Executable>/bin/true</Executable>"
        f"<Requested awarenessPolicy='Warn'>{request_}</Requested></Job>"
    )
    text, losses = translate(job, target, Settings(residual=False))
    assert "None" not in text
    can_hold = {"sss", "jsdl", *(("condor", "dagman") if "Arch" in request_ else ())}
    if target not in can_hold:
        assert [loss.path.partition("[")[0] for loss in losses if "/Requested/" in loss.path]


@pytest.mark.parametrize(
    ("op", "reason"), [("GE", "there is no option for it"), ("NE", "compared by NE")]
)
def test_a_bound_of_an_amount_is_no_reason_where_a_target_has_no_place_for_it(op, reason):
    (loss,) = losses_of(f'<Requested><Memory op="{op}">4</Memory></Requested>', "flux")
    assert loss.reason == reason


ENVIRONMENT = '<Environment><Variable name="{}">{}</Variable></Environment>'


def test_what_is_lost_of_one_of_several_groups_is_told_with_its_group_and_its_name():
    first, second, third = (ENVIRONMENT.format(*each) for each in ("X1", "X2", "Y3"))
    job = loads(wrapped(
        f"<TaskGroup>{first}<Argument>a</Argument></TaskGroup><TaskGroup>{second}{third}</TaskGroup>"
    ))  # fmt: skip
    told = [loss.named for loss in translate(job, "sbatch").losses if loss.is_told]
    assert told == [
        "Environment X of task group 1", "Argument 'a' of task group 1",
        "Environment X of task group 2", "Environment Y of task group 2",
    ]  # fmt: skip


def test_what_is_lost_of_the_only_group_names_no_group():
    job = loads(wrapped("<TaskGroup><Argument>a</Argument></TaskGroup>"))
    losses = translate(job, "sbatch").losses
    assert [loss.named for loss in losses if loss.is_told] == ["Argument 'a'"]


# decision 1108
@pytest.mark.parametrize("digest, is_taken", [
    ("540f4607", True),  # of one task on each node
    ("b9596749", True),  # of that, and of one processor for a task, which says nothing
    ("b9596740", False),
])  # fmt: skip
def test_what_was_kept_for_a_jobspec_that_was_read_otherwise_is_put_back(digest, is_taken):
    asked = '<NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount>'
    text = translate(loads(wrapped(requested(asked))), "flux").text
    assert "TaskDistribution 540f4607 <Job/>" in text
    [found] = read(text.replace("540f4607", digest).encode(), "flux")
    assert ("TaskDistribution" not in found.job.properties.names()) is is_taken
    assert bool(found.findings) is not is_taken
