# ruff: noqa: E501 (a case is a line)
import json
import os
import pwd
import shlex
import time

import pytest
from click.testing import CliRunner
from draws import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from sssjob.cli import sssjob
from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.errors import InvalidJob, InvalidValue, Severity
from sssjob.submission.at_once import submission, submitted_id
from sssjob.translate import Settings, Untranslatable, translate

RANGES = """<Job><Id>1</Id><Name>scan</Name><Executable>/bin/echo</Executable>
  <Arguments>'two words' $HOME</Arguments><OutputFile>/tmp/o</OutputFile><Queue>main</Queue>
  <Requested><Processors op="GE">2</Processors><Processors op="LE">4</Processors>
  <Memory op="LE" units="MB">300</Memory><Duration op="LE">330</Duration></Requested></Job>"""
GROUPS = """<Job awarenessPolicy="Warn"><Id>1</Id><Executable>/bin/true</Executable>
  <TaskGroup><TaskCount>2</TaskCount><Requested><Memory units="MB">100</Memory></Requested>
  </TaskGroup>
  <TaskGroup><TaskCount>1</TaskCount><Requested><Processors>4</Processors>
    <Memory units="MB">50</Memory></Requested></TaskGroup></Job>"""


def words(document, system, **options):
    job = resolve(loads(document)).block
    return shlex.join(submission(job, system, **options).command)


# fmt: off
CASES = [
    (RANGES, "slurm", "sbatch --parsable --hold --ntasks=2 --cpus-per-task=1 --nodes=1 --mem=300M "
                      "--time=6 --job-name=scan --partition=main --output=/tmp/o"),
    (RANGES, "gridengine", "qsub -terse -h -S /bin/sh -pe smp 2 -l h_rt=330,h_vmem=157286400 "
                           "-N scan -q main -o /tmp/o -j y"),
    (RANGES, "pbs", "qsub -h -l nodes=1:ppn=2,mem=314572800b,walltime=00:05:30 "
                    "-N scan -q main -o /tmp/o -j oe"),
    (RANGES, "lsf", "bsub -H -n 2 -R 'span[hosts=1]' -R 'rusage[mem=300MB/host]' -M 307200KB -W 6 "
                    "-J scan -q main -oo /tmp/o"),
    (GROUPS, "slurm", "sbatch --parsable --hold --ntasks=3 --cpus-per-task=2 --mem=250M "
                      "--job-name=true"),
    (GROUPS, "gridengine", "qsub -terse -h -S /bin/sh -pe smp 6 -l h_vmem=43690667 -N true"),
]
# fmt: on


@pytest.mark.parametrize(("document", "system", "command"), CASES)
def test_a_job_object_asks_a_batch_system_in_its_own_words(document, system, command):
    assert words(document, system) == command


COUNTS = st.fixed_dictionaries(
    {}, optional={"TaskCount": st.integers(1, 4), "NodeCount": st.integers(1, 4),
                  "Processors": st.integers(1, 12), "ProcessorsPerTask": st.integers(1, 3)},
)  # fmt: skip


def counts(options):
    """Tasks, and processors of each, of options of sbatch."""
    said = dict(each.removeprefix("--").split("=") for each in options if "=" in each)
    tasks = int(said.get("ntasks", said.get("nodes", 1)))
    return tasks, int(said.get("cpus-per-task", 1))


@examples(100)
@given(COUNTS)
def test_a_job_is_as_many_tasks_of_slurm_however_it_is_submitted(said):
    """Processors that nobody divides are a task each (5.1), here as in a script."""
    each = said.pop("ProcessorsPerTask", None)
    spread = each and f"<TaskDistribution type='ProcessorsPerTask'>{each}</TaskDistribution>"
    requested = "".join(f"<{name}>{number}</{name}>" for name, number in said.items())
    job = resolve(loads(
        f"<Job><Id>1</Id><Executable>/bin/true</Executable>{spread or ''}"
        f"<Requested>{requested}</Requested></Job>"
    )).block  # fmt: skip
    try:
        script = translate(job, "slurm", Settings())[0]
        command = submission(job, "slurm").command
    except (InvalidValue, InvalidJob, Untranslatable):
        assume(False)
    lines = [line.split()[1] for line in script.splitlines() if line.startswith("#SBATCH")]
    assert counts(command) == counts(lines)


def test_memory_and_scratch_space_are_asked_for_by_the_node():
    document = GROUPS.replace("<Executable>", "<NodeCount>2</NodeCount><Executable>")
    assert "--nodes=2 --mem=125M" in words(document, "slurm")
    assert "-n 6 -R 'span[ptile=3]' -R 'rusage[mem=125MB/host]' -M 128000KB" in words(
        document, "lsf"
    )


@pytest.mark.parametrize(
    ("name", "plain"), [("a b:c", "a_b_c"), ("7up", "_7up"), ("Wärme.1", "W_rme.1")]
)
def test_names_are_what_each_system_takes(name, plain):
    document = RANGES.replace("scan", name)
    assert f"-N {plain} " in words(document, "gridengine")
    assert f"--job-name={name}" in submission(loads(document), "slurm").command


def test_what_runs_is_one_program_whose_arguments_nothing_expands():
    made = submission(loads(RANGES), "slurm")
    assert made.script == "#!/bin/sh\nexec /bin/echo 'two words' '$HOME'\n"
    assert made.release("5") == ["scontrol", "release", "5"]
    assert made.cancel("5") == ["scancel", "5"]


@pytest.mark.parametrize(
    "document",
    [
        "<Job><Id>1</Id></Job>",
        "<Job><Id>1</Id><Executable>#script</Executable></Job>",
        "<Job><Id>1</Id><Executable>http://x/y</Executable></Job>",
        RANGES.replace('"LE">4', '"LE">1'),
        RANGES.replace("330", "long"),
    ],
    ids=["nothing", "file", "address", "impossible", "no number"],
)
def test_a_job_that_cannot_be_submitted_says_why(document):
    with pytest.raises(InvalidValue):
        submission(loads(document), "slurm")


@pytest.mark.parametrize("printed", ["12\n", "12;cluster\n", "12\nmore\n"])
def test_the_id_is_what_the_command_prints_first(printed):
    assert submitted_id("slurm", printed) == "12"


# What a job asks for beside amounts

ASKING = "<Job{}><Id>1</Id><Executable>/bin/true</Executable>{}</Job>"
EXECUTED = "exec /bin/true"


def made(inner, system, policy=""):
    attribute = f" awarenessPolicy='{policy}'" if policy else ""
    return submission(resolve(loads(ASKING.format(attribute, inner))).block, system)


def refusals(inner, system):
    """The paths of what refuses a job, each with the reason."""
    with pytest.raises(InvalidJob) as refused:
        made(inner, system)
    found = refused.value.findings
    assert all(each.severity is Severity.ERROR for each in found)
    assert {each.code for each in found} <= {"E-LOSS", "E-UNKNOWN"}
    return {each.path: each.message.rpartition(": ")[2] for each in found}


# fmt: off
OPTIONS = [
    ("<QualityOfService>high</QualityOfService>", "slurm", "--qos=high"),
    ("<Partition>p</Partition>", "slurm", "--partition=p"),
    ("<Reservation>r</Reservation>", "slurm", "--reservation=r"),
    ("<Reservation>r</Reservation>", "gridengine", "-ar r"),
    ("<Requested><Queue>long</Queue></Requested>", "pbs", "-q long"),
    ("<Queue>long</Queue><Partition>long</Partition>", "slurm", "--partition=long"),
    ("<EligibleTime>1800000000</EligibleTime>", "slurm", "--begin=2027-01-15T08:00:00"),
    ("<EligibleTime>1800000000</EligibleTime>", "gridengine", "-a 202701150800.00"),
    ("<EligibleTime>1800000000</EligibleTime>", "pbs", "-a 202701150800.00"),
    ("<DeadlineTime>1800000000</DeadlineTime>", "slurm", "--deadline=2027-01-15T08:00:00"),
    ("<Dependency>1_2</Dependency><Dependency condition='OnExit'>3</Dependency>", "slurm",
     "--dependency=afterok:1_2,afterany:3"),
    ("<Dependency condition='OnFailure'>7[].head</Dependency>", "pbs", "-W 'depend=afternotok:7[].head'"),
    ("<Dependency condition='OnExit'>7</Dependency>", "gridengine", "-hold_jid 7"),
    ("<Restartable>false</Restartable>", "slurm", "--no-requeue"),
    ("<Restartable>true</Restartable>", "pbs", "-r y"),
    ("<Requested><Duration>95053</Duration></Requested>", "pbs", "-l nodes=1:ppn=1,walltime=26:24:13"),
    ("<Priority>-5</Priority>", "gridengine", "-p -5"),
    ("<NotificationList uri='mailto:amy@example.org'>JobEnd, JobStart</NotificationList>", "slurm",
     "--mail-type=END,BEGIN --mail-user=amy@example.org"),
    ("<NotificationList>All</NotificationList>", "pbs", "-m abe"),
    ("<Feature>ib</Feature><Requested><Feature>ssd</Feature></Requested>", "slurm",
     "'--constraint=ib&ssd'"),
    ("<Node>n1</Node>", "slurm", "--nodelist=n1"),
    ("<Node>n1</Node>", "slurm", "--nodes=1"),
    ("<Requested><Resource name='GPU'>2</Resource></Requested>", "slurm", "--gpus=2"),
    ("<Resource name='matlab' type='License'>3</Resource>", "slurm", "--licenses=matlab:3"),
    ("<TaskDistribution type='TasksPerNode'>2</TaskDistribution>", "slurm", "--ntasks-per-node=2"),
    ("<TaskDistribution>RoundRobin</TaskDistribution>", "slurm", "--distribution=cyclic"),
    ("<ResourceLimit name='CPUTime'>60</ResourceLimit>", "pbs", "-l nodes=1:ppn=1,cput=00:01:00"),
    ("<ResourceLimit name='CPUTime' type='Soft'>60</ResourceLimit>", "gridengine", "-l s_cpu=60"),
    ("<ResourceLimit name='Memory'>1048576</ResourceLimit>", "slurm", "--mem=1M"),
    ("<Shell>/bin/bash</Shell>", "gridengine", "-S /bin/bash"),
    ("<Shell>/bin/bash</Shell>", "pbs", "-S /bin/bash"),
    ("<OutputFile redirectList='Append'>o</OutputFile>", "slurm", "--output=o --open-mode=append"),
    ("<OutputFile redirectList='Append'>o</OutputFile>", "gridengine", "-o o -j y"),
    ("<OutputFile>o</OutputFile><ErrorFile redirectList='Merge'/>", "pbs", "-o o -j oe"),
    ("<Environment export='true'><Variable name='A'>1</Variable></Environment>", "gridengine", "-V"),
    ("<Environment export='false'><Variable name='A'>1</Variable></Environment>", "slurm", "--export=NONE"),
    ("<InputFile>in</InputFile>", "gridengine", "-i in"),
]
SCRIPTS = [
    ("<Environment><Variable name='A'>x 'y' $z</Variable></Environment>", "slurm", "#!/bin/sh",
     ["""export A='x '"'"'y'"'"' $z'""", EXECUTED]),
    ("<ResourceLimit name='CPUTime' type='Hard'>60</ResourceLimit>", "slurm", "#!/bin/sh",
     ["ulimit -S -t 60 && ulimit -H -t 60", EXECUTED]),
    ("<InitialWorkingDirectory>/a b</InitialWorkingDirectory><InputFile>i</InputFile>", "pbs",
     "#!/bin/sh", ["cd '/a b' || exit", f"{EXECUTED} < i"]),
    ("<Shell> /usr/bin/zsh </Shell>", "slurm", "#!/usr/bin/zsh", [EXECUTED]),
]
# fmt: on


@pytest.mark.parametrize("inner, system, option", OPTIONS)
def test_what_a_system_has_an_option_for_is_asked_for(inner, system, option):
    submitted = made(inner, system)
    assert f" {option} " in f" {shlex.join(submitted.command)} "
    assert not [each for each in submitted.findings if each.code == "E-LOSS"]


@pytest.mark.parametrize("inner, system, first, lines", SCRIPTS)
def test_what_the_script_can_do_is_done_there(inner, system, first, lines):
    assert made(inner, system).script.splitlines() == [first, *lines]


def test_a_job_that_its_user_holds_stays_held():
    assert made("<Hold>User</Hold>", "slurm").stays_held
    assert not made("", "slurm").stays_held


FACTS = (
    "<Application>g09</Application><State>Completed</State><StartTime>1</StartTime>"
    "<GlobalUser>amy@example.org</GlobalUser><ExitCode>1</ExitCode><Interactive>false</Interactive>"
    "<Suspendable>true</Suspendable><Extension type='JobFeatures' name='grace_secs_job'>6</Extension>"
    "<Delivered><Node>n1</Node><Queue>main</Queue></Delivered>"
)


@pytest.mark.parametrize("system", ["slurm", "gridengine", "pbs", "lsf"])
def test_what_a_job_is_and_was_asks_for_nothing(system):
    assert made(FACTS, system).command == made("", system).command


# fmt: off
LEFT = [
    ("<Feature>ib</Feature>", "gridengine", "/Job/Feature", "there is no option for it"),
    ("<Feature aggregation='List'>ib,ssd</Feature>", "slurm", "/Job/Feature", "it is no plain name"),
    ("<Feature>a|b</Feature>", "slurm", "/Job/Feature", "it is no plain name"),
    ("<Requested><Feature conj='Nand'>ib</Feature></Requested>", "slurm", "/Job/Requested/Feature", "compared by NE"),
    ("<Requested><Node op='Match'>n.*</Node></Requested>", "slurm", "/Job/Requested/Node", "compared by Match"),
    ("<Node>n1</Node><Node>n2</Node>", "slurm", "/Job/Node", "only one node can be named, by its plain name"),
    ("<Node>n1</Node>", "pbs", "/Job/Node", "there is no option for it"),
    ("<Node count='2'>n1</Node>", "slurm", "/Job/Node", "only one node can be named, by its plain name"),
    ("<Resource name='GPU'>1</Resource>", "pbs", "/Job/Resource", "there is no option for it"),
    ("<Requested><Resource name='GPU' op='NE'>1</Resource></Requested>", "slurm", "/Job/Requested/Resource", "compared by NE"),
    ("<Resource name='fpga'>1</Resource>", "slurm", "/Job/Resource", "it is neither a GPU nor a License"),
    ("<Environment><Variable name='A.B'>1</Variable></Environment>", "slurm", "/Job/Environment", "'A.B' is no variable that a shell takes"),
    ("<Dependency>stage</Dependency>", "slurm", "/Job/Dependency", "no id of a job of this system"),
    ("<Dependency condition='OnExit' code='3'>7</Dependency>", "slurm", "/Job/Dependency", "nothing waits for an exit code"),
    ("<Dependency designator='JobName'>7</Dependency>", "slurm", "/Job/Dependency", "a job is named by its id"),
    ("<Dependency>7</Dependency>", "gridengine", "/Job/Dependency", "nothing waits for OnSuccess"),
    ("<QualityOfService>high</QualityOfService>", "pbs", "/Job/QualityOfService", "there is no option for it"),
    ("<DeadlineTime>1800000000</DeadlineTime>", "pbs", "/Job/DeadlineTime", "there is no option for it"),
    ("<EligibleTime>soon</EligibleTime>", "slurm", "/Job/EligibleTime", "'soon' is not seconds since the epoch such as 1051557713"),
    ("<Hold>System</Hold>", "slurm", "/Job/Hold", "only a hold of the user can be asked for"),
    ("<Interactive>true</Interactive>", "slurm", "/Job/Interactive", "a batch job has no terminal"),
    ("<Suspendable>false</Suspendable>", "slurm", "/Job/Suspendable", "nothing keeps a job from being suspended"),
    ("<Priority>5</Priority>", "slurm", "/Job/Priority", "only an operator sets the priority of a job"),
    ("<Priority>5000</Priority>", "pbs", "/Job/Priority", "priorities go from -1023 to 1024"),
    ("<Shell>/usr/bin/python3</Shell>", "slurm", "/Job/Shell", "it is no path of one of sh, ash, bash, dash, ksh, mksh, zsh"),
    ("<ResourceManagerType>LSF</ResourceManagerType>", "slurm", "/Job/ResourceManagerType", "that is another one"),
    ("<ResourceLimit name='StackSize'>9</ResourceLimit>", "slurm", "/Job/ResourceLimit", "there is no option for it"),
    ("<OutputFile redirectList='Keep'>o</OutputFile>", "slurm", "/Job/OutputFile/@redirectList", "there is no option for it"),
    ("<NotificationList uri='xmpp://a'>JobEnd</NotificationList>", "slurm", "/Job/NotificationList/@uri", "it is no address of mail"),
    ("<NotificationList>JobEnd,Birth</NotificationList>", "slurm", "/Job/NotificationList", "expected some of JobStart, JobEnd, All, None"),
    ("<Queue>a</Queue><Partition>b</Partition>", "slurm", "/Job/Partition", "the partition is the Queue, 'a'"),
    ("<Queue>a</Queue><Requested><Queue>b</Queue></Requested>", "slurm", "/Job/Queue", "its Requested says another"),
    ("<Disk units='MB'>5</Disk>", "pbs", "/Job/Disk", "there is no option for it"),
    ("<NodeCount>2</NodeCount>", "gridengine", "/Job/NodeCount", "there is no option for it"),
    ("<Swap units='MB'>5</Swap>", "slurm", "/Job/Swap", "there is no option for it"),
    ("<Requested><Memory units='MB' dynamic='true'>5</Memory></Requested>", "slurm", "/Job/Requested/Memory/@dynamic", "there is no option for it"),
    ("<Network units='MB'>5</Network>", "slurm", "/Job/Network", "there is no option for it"),
    ("<Architecture>x86_64</Architecture>", "slurm", "/Job/Architecture", "there is no option for it"),
    ("<Machine>titan</Machine>", "slurm", "/Job/Machine", "there is no option for it"),
    ("<Quote>q</Quote>", "slurm", "/Job/Quote", "there is no option for it"),
    ("<Extension name='x'>1</Extension>", "slurm", "/Job/Extension", "there is no option for it"),
    ("<TaskGroup><Feature>ib</Feature></TaskGroup><TaskGroup/>", "slurm", "/Job/TaskGroup/Feature", "there is no option for it"),
    ("<TaskGroup><TaskCount>2</TaskCount></TaskGroup><TaskGroup/>", "slurm", "/Job/TaskGroup/TaskCount", "2 task groups are added up"),
    ("<TaskGroup><Task><Id>1</Id><Node>n1</Node></Task></TaskGroup>", "slurm", "/Job/TaskGroup/Task/Node", "there is no option for it"),
    ("<Requested><Processors op='NE'>1</Processors></Requested>", "slurm", "/Job/Requested/Processors", "compared by NE"),
    ("<Requested><Memory units='GB' op='NE'>4</Memory></Requested>", "pbs", "/Job/Requested/Memory", "compared by NE"),
    ("<Requested><Duration op='NE'>60</Duration></Requested>", "gridengine", "/Job/Requested/Duration", "compared by NE"),
    ("<TaskGroup><TaskCount>3</TaskCount><Requested><Processors>2</Processors></Requested></TaskGroup>", "slurm", "/Job/TaskGroup/Requested/Processors",
     "2 (Requested/Processors, line 1) is not 3 (TaskCount, line 1) x 1 (assumed)"),
    ("<TaskDistribution type='Geometry'>{1}{2}</TaskDistribution>", "slurm", "/Job/TaskDistribution", "there is no option for it"),
]
# fmt: on


@pytest.mark.parametrize("inner, system, path, reason", LEFT)
def test_what_no_option_says_refuses_the_job(inner, system, path, reason):
    assert refusals(inner, system) == {path: reason}


@pytest.mark.parametrize("inner, path", [
    ("<Mood>good</Mood>", "/Job/Mood"),
    ("<Requested><TaskCount>5</TaskCount></Requested>", "/Job/Requested/TaskCount"),
    ("<Requested><Memory op='APPROX'>5</Memory></Requested>", "/Job/Requested/Memory/@op"),
])  # fmt: skip
def test_what_is_not_understood_refuses_the_job(inner, path):
    with pytest.raises(InvalidJob) as refused:
        made(inner, "slurm")
    assert [each.path for each in refused.value.findings] == [path]
    assert "is not understood" in refused.value.findings[0].message


def test_a_job_of_another_user_is_not_submitted_as_ones_own():
    [(path, reason)] = refusals("<User>nobody-else</User>", "slurm").items()
    assert (path, "would run as" in reason) == ("/Job/User", True)
    own = pwd.getpwuid(os.geteuid()).pw_name
    assert made(f"<User>{own}</User>", "slurm").findings == made("", "slurm").findings


def test_everything_that_refuses_a_job_is_told_in_the_order_of_the_document():
    inner = (
        "<Mood>good</Mood><Hold>System</Hold><Requested><Swap>1</Swap></Requested><Quote>q</Quote>"
    )
    assert [*refusals(inner, "pbs")] == [
        "/Job/Mood", "/Job/Hold", "/Job/Requested/Swap", "/Job/Quote",
    ]  # fmt: skip


@pytest.mark.parametrize("policy, told", [("Warn", 2), ("Ignore", 0)])
def test_a_policy_lets_a_job_go_without_what_cannot_be_asked_for(policy, told):
    submitted = made("<Feature>ib</Feature><Quote>q</Quote>", "pbs", policy)
    left = [each for each in submitted.findings if each.code == "E-LOSS"]
    assert len(left) == told
    assert all(each.severity is Severity.WARNING for each in left)


def test_one_refusal_beats_any_number_of_warnings_and_all_are_told():
    inner = "<Feature>ib</Feature><Quote awarenessPolicy='Reject'>q</Quote>"
    with pytest.raises(InvalidJob) as refused:
        made(inner, "pbs", "Warn")
    assert [each.severity for each in refused.value.findings] == ["warning", "error"]
    with pytest.raises(InvalidJob):
        made("<Mood awarenessPolicy='warn'>good</Mood>", "pbs", "Ignore")


def test_of_alternatives_only_the_chosen_one_is_asked_for_and_a_wish_is_none():
    inner = (
        "<Requested><Processors group='1'>2</Processors><Processors conj='Or'>4</Processors>"
        "<Feature group='-1'>ib</Feature><Feature preference='-1'>ssd</Feature></Requested>"
    )
    assert made(inner, "pbs").command[:4] == ("qsub", "-h", "-l", "nodes=1:ppn=2")


# decision 1146
def test_of_alternatives_the_best_that_nothing_refuses_is_asked_for():
    inner = "<Requested><Feature>ib</Feature><Processors conj='Or'>4</Processors></Requested>"
    assert made(inner, "pbs", "Reject").command[:4] == ("qsub", "-h", "-l", "nodes=1:ppn=4")
    with pytest.raises(InvalidJob):
        made(inner.replace("</Requested>", "<Feature>ssd</Feature></Requested>"), "pbs", "Reject")


@pytest.fixture
def berlin(monkeypatch):
    """Local times are those of Berlin, and of no test behind this one."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_an_hour_that_a_clock_shows_twice_is_no_time_to_begin():
    [reason] = refusals("<EligibleTime>1792888200</EligibleTime>", "slurm").values()
    assert reason == "the clock shows that time twice, or not at all"
    later = made("<EligibleTime>1792897200</EligibleTime>", "slurm")
    assert "--begin=2026-10-25T04:00:00" in later.command


SMALL = RANGES.replace('<Memory op="LE" units="MB">300</Memory>', "")


def test_a_jobspec_of_flux_asks_for_what_options_of_others_ask_for():
    made = submission(resolve(loads(SMALL)).block, "flux")
    form = json.loads(made.script)
    assert shlex.join(made.command) == "flux job submit --urgency=0"
    slot = {"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": 2}]}
    assert form["resources"] == [slot]  # one task, as a script is run once
    assert form["tasks"][0]["command"] == ["/bin/echo", "two words", "$HOME"]
    assert form["attributes"]["system"]["duration"] == 330
    assert made.release("77") == ["flux", "job", "urgency", "77", "default"]
    assert made.cancel("77") == ["flux", "cancel", "77"]
    assert submitted_id("flux", "\u0192iFkbMhFM\n") == "91088924704768"


@pytest.mark.parametrize(
    ("more", "count", "held"),
    [("<TaskCount>2</TaskCount>", 2, False), ("<Hold>User</Hold>", 1, True), ("", 1, False)],
)
def test_tasks_of_flux_are_those_that_are_asked_for_and_a_hold_stays(more, count, held):
    made = submission(resolve(loads(SMALL.replace("<Name>", f"{more}<Name>"))).block, "flux")
    assert json.loads(made.script)["resources"][0]["count"] == count
    assert made.stays_held is held


@pytest.mark.parametrize(
    ("inner", "count", "cores"),
    [
        ("<Requested><NodeCount>2</NodeCount></Requested>", {"total": 1}, (2, 1)),
        ('<Requested><Processors op="GE">5</Processors><NodeCount>2</NodeCount></Requested>',
         {"total": 1}, (2, 3)),
        ("<Requested><NodeCount>1</NodeCount></Requested>", {"per_slot": 1}, (1, 1)),
        ("<TaskCount>2</TaskCount><Requested><NodeCount>2</NodeCount></Requested>",
         {"per_slot": 1}, (2, 1)),
        ("<TaskDistribution>1</TaskDistribution><Requested><NodeCount>2</NodeCount></Requested>",
         {"per_slot": 1}, (2, 1)),
    ],
)  # fmt: skip
def test_a_program_that_says_nothing_of_tasks_runs_once_on_all_its_nodes(inner, count, cores):
    text = f"<Job><Id>1</Id><Executable>/bin/hostname</Executable>{inner}</Job>"
    form = json.loads(submission(resolve(loads(text)).block, "flux").script)
    [node] = form["resources"]
    [slot] = node["with"]
    assert (form["tasks"][0]["count"], slot["count"]) == (count, 1)
    assert (node["count"], slot["with"]) == (cores[0], [{"type": "core", "count": cores[1]}])


@pytest.mark.parametrize(
    ("inner", "told"),
    [("<Memory>3</Memory>", "Memory '3' is not asked of flux"),
     ('<Memory awarenessPolicy="Warn">3</Memory>', ""),
     ("<Disk>3</Disk>", "Disk '3' is not asked of flux")],
)  # fmt: skip
def test_what_no_jobspec_of_flux_says_is_refused_unless_it_may_be_left_out(inner, told):
    job = resolve(loads(SMALL.replace("<Requested>", f"<Requested>{inner}"))).block
    if not told:
        assert [each.severity for each in submission(job, "flux").findings] == [Severity.WARNING]
        return
    with pytest.raises(InvalidJob) as refused:
        submission(job, "flux")
    assert [told in each.message for each in refused.value.findings] == [True]
    own = f"<User>{pwd.getpwuid(os.geteuid()).pw_name}</User><Name>"
    made = submission(resolve(loads(SMALL.replace("<Name>", own))).block, "flux")
    assert (made.findings, json.loads(made.script)["version"]) == ((), 1)
    stranger = resolve(loads(SMALL.replace("<Name>", "<User>nobody9</User><Name>"))).block
    with pytest.raises(InvalidJob, match="who submits it"):
        submission(stranger, "flux")


TASKS = {  # what a job says of tasks and nodes: cores of each slot, slots of each node, tasks in all
    "": (4, 1, None), "<NodeCount>2</NodeCount>": (2, 1, 1), "<TaskCount>2</TaskCount>": (2, 2, None),
}  # fmt: skip


@pytest.mark.parametrize("says", TASKS)
def test_both_ways_to_submit_to_flux_agree_how_often_a_program_runs(says, tmp_path):
    says_job, says_request = (says, "") if "Task" in says else ("", says)
    text = (
        f"<Job><Id>1</Id><User>{pwd.getpwuid(os.geteuid()).pw_name}</User>"
        f"<Executable>/bin/hostname</Executable>{says_job}"
        f"<Requested>{says_request}<Processors>4</Processors></Requested></Job>"
    )
    (tmp_path / "job.xml").write_text(text)
    done = CliRunner().invoke(sssjob, ["submit", "--to", "flux", "-n", f"{tmp_path}/job.xml"])
    assert done.exit_code == 0, done.output
    ways = [
        json.loads(submission(resolve(loads(text)).block, "flux").script),
        json.loads(done.stdout.partition("\n")[2]),
    ]
    for form in ways:
        [first], [task] = form["resources"], form["tasks"]
        slot = first["with"][0] if first["type"] == "node" else first
        found = slot["with"][0]["count"], slot["count"], task["count"].get("total")
        assert found == TASKS[says]


# decision 1126
@pytest.mark.parametrize(
    "best, other",
    [
        ("<NodeCount>3</NodeCount><Node>n5</Node>", "<Processors>2</Processors>"),
        ("<Processors>3</Processors><Node op='Match'>x.*</Node>", "<Processors>2</Processors>"),
    ],
)
def test_a_jobspec_of_the_next_alternative_has_the_numbers_of_that_one(best, other):
    text = (
        "<Job awarenessPolicy='Reject'><Id>1</Id><Executable>/bin/date</Executable>"
        "<Requested>{}</Requested></Job>"
    )
    either = best + other.replace(">", " conj='Or'>", 1)
    assert submission(loads(text.format(either)), "flux").script == (
        submission(loads(text.format(other)), "flux").script
    )
