"""What the only task group of a job says is said of the job, by every target."""

import pytest

from sssjob.defaults import OVERRIDDEN
from sssjob.document import loads
from sssjob.features.derive import derive
from sssjob.layout import layouts
from sssjob.lcginfo.jobs import from_job
from sssjob.placement import place
from sssjob.registry import all_targets
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, translate
from sssjob.translate.losses import Done

JOB = '<Job awarenessPolicy="Warn"><Id>1</Id>{}{}</Job>'
TARGETS = sorted(all_targets().keys() - {"sss"})
OFFERS = [{"id": f"n{number}", "Node": f"n{number}", "Processors": 4} for number in range(4)]
PROGRAM = "<Executable>/bin/date</Executable>"
REQUESTED = {
    "GPUs": '<Resource name="GPU">4</Resource>',
    "GPUs of a type": '<Resource name="GPU" type="a100">2</Resource>',
    "a licence": '<Resource name="License" type="matlab">2</Resource>',
    "a node": "<Node>n1</Node>",
    "nodes": "<Node>n1</Node><Node>n2</Node>",
    "no node": '<Node op="NE">n3</Node>',
    "a feature": "<Feature>ib</Feature>",
    "one of two features": '<Feature conj="Or">ib</Feature><Feature conj="Or">eth</Feature>',
    "a feature that is liked": '<Feature preference="-1">big</Feature>',
    "an architecture": "<Architecture>x86_64</Architecture>",
    "an operating system": "<OperatingSystem>Linux</OperatingSystem>",
    "a queue": "<Queue>main</Queue>",
    "a partition": "<Partition>p</Partition>",
    "a quality of service": "<QualityOfService>high</QualityOfService>",
    "a project": "<Project>p</Project>",
    "a reservation": "<Reservation>r</Reservation>",
    "a network": '<Network units="MB">5</Network>',
}
SAID = {
    "variables": '<Environment><Variable name="A">1</Variable></Environment>',
    "arguments": "<Arguments>a 'b c'</Arguments>",
    "a directory": "<InitialWorkingDirectory>/tmp/x</InitialWorkingDirectory>",
    "output": "<OutputFile>/tmp/o</OutputFile>",
    "a priority": "<Priority>5</Priority>",
    "a shell": "<Shell>/bin/bash</Shell>",
    "what it waits for": "<Dependency>9</Dependency>",
    "a hold": "<Hold>User</Hold>",
    "who is told": "<NotificationList>a@b</NotificationList>",
    "whether it may be restarted": "<Restartable>true</Restartable>",
    "when it may start": "<EligibleTime>1900000000</EligibleTime>",
    "a queue": "<Queue>main</Queue>",
    "whether it can be checkpointed": "<Checkpointable>true</Checkpointable>",
    "an application": "<Application>app</Application>",
    "nodes of its own": '<Extension type="nodes" name="exclusive">true</Extension>',
    "an Extension": '<Extension type="other" name="x">1</Extension>',
    "a feature of jobs": '<Extension type="JobFeatures" name="grace_secs_job">60</Extension>',
    "a limit of time": "<DeadlineTime>1900000000</DeadlineTime>",
}
CASES = {f"requests {name}": f"<Requested>{text}</Requested>" for name, text in REQUESTED.items()}
CASES |= {f"says {name}": text for name, text in SAID.items()}


def written(target, inner, tasks="<TaskCount>2</TaskCount>"):
    """What is written, and what is told of it but for where it stands."""
    found = translate(loads(JOB.format(tasks, inner)), target, Settings(residual=False))
    told = sorted((loss.path.rpartition("/")[2], loss.reason, loss.done) for loss in found.losses)
    return found.text, told


@pytest.mark.parametrize("inner", CASES.values(), ids=CASES)
def test_what_the_only_group_says_is_written_as_what_its_job_says(inner):
    for target in TARGETS:
        job = written(target, PROGRAM + inner)
        assert written(target, f"{PROGRAM}<TaskGroup>{inner}</TaskGroup>") == job, target


def test_the_program_of_the_only_group_is_that_of_the_job():
    for target in TARGETS:
        job = written(target, PROGRAM)
        assert written(target, f"<TaskGroup>{PROGRAM}</TaskGroup>") == job, target


# What a group says beside what its job says.
BESIDE = {
    "nothing": "",
    "tasks": "<TaskCount>4</TaskCount>",
    "tasks on each node": '<TaskDistribution type="TasksPerNode">2</TaskDistribution>',
    "processors": "<Requested><Processors>4</Processors></Requested>",
    "nodes": "<Requested><NodeCount>2</NodeCount></Requested>",
    "a licence": REQUESTED["a licence"].join(("<Requested>", "</Requested>")),
}


@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
def test_what_the_job_says_beside_its_only_group_is_written(beside):
    inner = PROGRAM + f"<Requested>{REQUESTED['a node']}{REQUESTED['a feature']}</Requested>"
    for target in TARGETS:
        whole = written(target, inner + beside, tasks="")
        parts = written(target, f"{inner}<TaskGroup>{beside}</TaskGroup>", tasks="")
        assert parts == whole, target


COUNTED = {
    "tasks on each node": '<TaskDistribution type="TasksPerNode">2</TaskDistribution>',
    "processors of each task": '<TaskDistribution type="ProcessorsPerTask">2</TaskDistribution>',
    "a rule": '<TaskDistribution type="Rule">RoundRobin</TaskDistribution>',
    "an unknown rule": '<TaskDistribution type="Rule">Some</TaskDistribution>',
    "a geometry": '<TaskDistribution type="Geometry">{0,1}{2,3}</TaskDistribution>',
    "tasks": "<TaskCount>3</TaskCount>",
    "nodes": "<Requested><NodeCount>2</NodeCount></Requested>",
    "some nodes": '<Requested><NodeCount op="GE">2</NodeCount></Requested>',
    "processors": "<Requested><Processors>8</Processors></Requested>",
    "some processors": '<Requested><Processors op="LE">8</Processors></Requested>',
}


@pytest.mark.parametrize("tasks", ["", "<TaskCount>2</TaskCount>", "<TaskCount>4</TaskCount>"])
@pytest.mark.parametrize("inner", COUNTED.values(), ids=COUNTED)
def test_how_many_the_only_group_counts_is_written_and_told_as_of_its_job(inner, tasks):
    for target in TARGETS:
        job = written(target, PROGRAM + tasks + inner, tasks="")
        group = f"{PROGRAM}<TaskGroup>{tasks}{inner}</TaskGroup>"
        assert written(target, group, tasks="") == job, target


# What a job says, and what its only group says of the same.
DIFFERENT = {
    "a queue": ("<Queue>a</Queue>", "<Queue>b</Queue>"),
    "a node": ("<Node>a</Node>", "<Node>b</Node>"),
    "nodes": ("<NodeCount>2</NodeCount>", "<NodeCount>3</NodeCount>"),
    "processors": ("<Processors>2</Processors>", "<Processors>4</Processors>"),
    "an architecture": ("<Architecture>a</Architecture>", "<Architecture>b</Architecture>"),
}


@pytest.mark.parametrize(("own", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_where_the_only_group_says_another_it_counts_and_what_the_job_says_is_told(own, other):
    own, other = (f"<Requested>{each}</Requested>" for each in (own, other))
    for target in TARGETS:
        text, told = written(target, f"{PROGRAM}{own}<TaskGroup>{other}</TaskGroup>")
        alone = written(target, PROGRAM + other)
        assert text == alone[0], target
        assert [each for each in told if each not in alone[1]] == [
            (own.split("<")[2].split(">")[0], OVERRIDDEN, Done.DROPPED)
        ], target


def wish(text):
    return text.replace(">", ' preference="-1">', 1)


@pytest.mark.parametrize("outside", [False, True], ids=["requested", "outside"])
@pytest.mark.parametrize(("own", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_a_wish_of_the_only_group_takes_nothing_of_what_its_job_demands(own, other, outside):
    if outside and "Queue" in own:
        pytest.skip("a queue outside of Requested is where the job is, and not asked for")
    liked = f"<Requested>{wish(other)}</Requested>"
    demanded = own if outside else f"<Requested>{own}</Requested>"
    alone = f"{own}{liked}" if outside else f"<Requested>{own}{wish(other)}</Requested>"
    for target in TARGETS:
        text, told = written(target, f"{PROGRAM}{demanded}<TaskGroup>{liked}</TaskGroup>")
        assert (text, told) == written(target, PROGRAM + alone), target


def asked_for(job):
    """What a job asks for, by each who counts."""
    (ad,) = to_ads(job)
    (found,) = layouts(job).layouts
    return {
        "layout": (found.nodes and found.nodes.value, found.processors.value),
        "features": derive(job, now=0).derived["allocated_cpu"].value,
        "lcginfo": from_job(job, queue="q", group="g").cpucount,
        "ad": {name: str(ad.ad.get(name)) for name in ("RequestCpus", "MinHosts")},
        "place": [len(group.shares) for group in place(job, OFFERS).groups],
    }


@pytest.mark.parametrize("form", ["{}", "<Requested>{}</Requested>"], ids=["outside", "requested"])
@pytest.mark.parametrize("name", ["NodeCount", "Processors"])
def test_a_wish_of_the_only_group_is_nothing_for_all_who_count(name, form):
    demanded = form.format(f"<{name}>4</{name}>")
    liked = f'<TaskGroup><Requested><{name} preference="-1">2</{name}></Requested></TaskGroup>'
    none = "<TaskGroup/>"
    with_wish, without = (
        loads(JOB.format("", PROGRAM + demanded + each)) for each in (liked, none)
    )
    assert asked_for(with_wish) == asked_for(without)


SEVERAL = {
    "features": ("<Requested><Feature>ib</Feature></Requested>",
                 "<Requested><Feature>ssd</Feature></Requested>"),
    "variables": ('<Environment><Variable name="A">1</Variable></Environment>',
                  '<Environment><Variable name="B">2</Variable></Environment>'),
}  # fmt: skip


@pytest.mark.parametrize(("own", "other"), SEVERAL.values(), ids=SEVERAL)
def test_all_of_what_the_job_and_its_only_group_say_counts_where_there_may_be_several(own, other):
    for target in TARGETS:
        both = written(target, PROGRAM + own + other)
        assert written(target, f"{PROGRAM}{own}<TaskGroup>{other}</TaskGroup>") == both, target


RANGES = {
    "an upper end": '<{0} units="GB" op="LE">4</{0}>',
    "a lower end": '<{0} units="GB" op="GE">4</{0}>',
    "an open end": '<{0} units="GB" op="GT">4</{0}>',
    "both ends": '<{0} units="GB" op="GE">2</{0}><{0} units="GB" op="LE">4</{0}>',
}


@pytest.mark.parametrize("name", ["Memory", "Swap", "Disk"])
@pytest.mark.parametrize("text", RANGES.values(), ids=RANGES)
def test_a_range_of_the_one_task_of_the_only_group_is_that_of_the_job(text, name):
    inner = f"<Requested>{text.format(name)}</Requested>"
    for target in TARGETS:
        job = written(target, PROGRAM + inner, tasks="")
        assert written(target, f"{PROGRAM}<TaskGroup>{inner}</TaskGroup>", tasks="") == job, target


def test_nodes_and_features_of_a_job_of_several_groups_are_those_of_its_chunks_and_nodes():
    asked = '<Requested><Feature>ib</Feature><Node aggregation="List">a,b</Node></Requested>'
    group = "<TaskGroup><TaskCount>1</TaskCount></TaskGroup>"
    for target, wanted in {
        "pbs": "select=1:ncpus=1:mpiprocs=1:ib=True:host=a+1:ncpus=1:mpiprocs=1:ib=True:host=b",
        "torque": "nodes=a:ppn=1:ib+b:ppn=1:ib",
    }.items():
        text, told = written(target, PROGRAM + asked + group + group, tasks="")
        assert wanted in text.splitlines()[2]
        assert not {"Feature", "Node"} & {name for name, *_ in told}


@pytest.mark.parametrize(("own", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_an_ad_has_what_the_only_group_says_and_tells_what_its_job_says(own, other):
    own, other = (f"<Requested>{each}</Requested>" for each in (own, other))
    [made] = to_ads(loads(JOB.format("", f"{PROGRAM}{own}<TaskGroup>{other}</TaskGroup>")))
    [alone] = to_ads(loads(JOB.format("", PROGRAM + other)))
    of_sum = {"Requirements": made.ad.get("Requirements")} if "Processors" in own else {}
    assert {**made.ad, **of_sum} == {**alone.ad, **of_sum}  # RequestCpus demands them, too
    assert any("its only task group says another" in each.message for each in made.findings)


@pytest.mark.parametrize(("own", "other"), SEVERAL.values(), ids=SEVERAL)
def test_an_ad_has_all_of_what_job_and_only_group_say_where_there_may_be_several(own, other):
    [made] = to_ads(loads(JOB.format("", f"{PROGRAM}{own}<TaskGroup>{other}</TaskGroup>")))
    assert all(word in str(made.ad) for word in (("ib", "ssd") if "ib" in own else ("A=1", "B=2")))


def test_variables_of_job_and_only_group_are_one_line_of_a_submit_file():
    """Of several lines HTCondor takes the last one alone."""
    said = "<Environment><Variable name='{}'>{}</Variable></Environment>"
    group = f"<TaskGroup>{said.format('B', 3)}</TaskGroup>"
    job = f"<Job><Executable>/bin/date</Executable>{said.format('A', 2)}{group}</Job>"
    script = translate(loads(job), "condor", Settings(residual=False)).text
    assert [line for line in script.splitlines() if line.startswith("environment")] == [
        'environment = "A=2 B=3"'
    ]


def test_what_job_and_only_group_say_alike_is_written_once():
    said = "<Hold>User</Hold><Dependency>9</Dependency>"
    job = f"<Job><Executable>/bin/date</Executable>{said}<TaskGroup>{said}</TaskGroup></Job>"
    lines = translate(loads(job), "sbatch", Settings(residual=False)).text.splitlines()
    assert lines.count("#SBATCH --hold") == 1
    assert lines.count("#SBATCH --dependency=afterok:9") == 1


ENVIRONMENT = '<Environment{}><Variable name="{}">{}</Variable></Environment>'
EXTENSION = '<Extension type="nodes" name="exclusive">{}</Extension>'
# What a job says, what its only group says, what both come to, and what is told of the job.
OTHERWISE = {
    "another value": (
        ENVIRONMENT.format("", "A", 2), ENVIRONMENT.format("", "A", 3),
        ENVIRONMENT.format("", "A", 3), {"A"},
    ),
    "the same value": (
        ENVIRONMENT.format("", "A", 2), ENVIRONMENT.format("", "A", 2),
        ENVIRONMENT.format("", "A", 2), set(),
    ),
    "another export": (
        ENVIRONMENT.format(' export="true"', "A", 2), ENVIRONMENT.format(' export="false"', "B", 3),
        ENVIRONMENT.format("", "A", 2) + ENVIRONMENT.format(' export="false"', "B", 3), {"@export"},
    ),
    "export of the job": (
        ENVIRONMENT.format(' export="false"', "A", 2), ENVIRONMENT.format("", "B", 3),
        ENVIRONMENT.format("", "A", 2) + ENVIRONMENT.format(' export="false"', "B", 3), set(),
    ),
    "another Extension": (
        EXTENSION.format("host"), EXTENSION.format("true"), EXTENSION.format("true"), {"Extension"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("own, other, both, told", OTHERWISE.values(), ids=OTHERWISE)
def test_of_what_there_may_be_several_the_group_says_what_counts_by_one_name(
    own, other, both, told
):
    for target in TARGETS:
        text, losses = written(target, f"{PROGRAM}{own}<TaskGroup>{other}</TaskGroup>")
        assert text == written(target, PROGRAM + both)[0], target
        assert {name for name, why, _ in losses if why == OVERRIDDEN} == told, target


@pytest.mark.parametrize(
    "own, other, told",
    [(own, other, told) for own, other, _, told in OTHERWISE.values() if "Env" in own],
)
def test_an_ad_tells_which_variables_of_a_job_its_only_group_says_otherwise(own, other, told):
    [made] = to_ads(loads(JOB.format("", f"{PROGRAM}{own}<TaskGroup>{other}</TaskGroup>")))
    found = [each for each in made.findings if OVERRIDDEN in each.message]
    assert {each.path.rpartition("/")[2] for each in found} == told
