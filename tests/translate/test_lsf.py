# ruff: noqa: E501 (a case is a line)
import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated import comes_back, losses_of, options_of, requested, said_by_script, script, wrapped

from sssjob.document import dumps, loads
from sssjob.translate import Done, Settings, read, translate

# fmt: off
BOTH = [
    ("<Name>scan</Name>", ["-J scan"]),
    ("<Project>a b</Project>", ['-P "a b"']),
    ("<Group>chemists</Group>", ["-G chemists"]),
    ("<QualityOfService>gold</QualityOfService>", ["-sla gold"]),
    ("<Queue>q</Queue>", ["-q q"]),
    ("<Machine>m</Machine>", ["-clusters m"]),
    ("<Reservation>r</Reservation>", ["-U r"]),
    ("<InitialWorkingDirectory>/a b</InitialWorkingDirectory>", ['-cwd "/a b"']),
    ("<InputFile>i</InputFile><OutputFile>o</OutputFile><ErrorFile>e</ErrorFile>", ["-oo o", "-eo e", "-i i"]),
    ('<OutputFile redirectList="Append">o</OutputFile>', ["-o o"]),
    ('<Environment export="false"/>', ["-env none"]),
    ("<EligibleTime>1800000000</EligibleTime>", ["-b 2027:01:15:08:00"]),
    ("<DeadlineTime>1800000000</DeadlineTime>", ["-t 2027:01:15:08:00"]),
    ('<Dependency>1[2]</Dependency><Dependency condition="OnFailure">3</Dependency><Dependency condition="OnExit">4</Dependency>'
     '<Dependency condition="OnExit" code="3">5</Dependency><Dependency designator="JobName">prep</Dependency>',
     ["-w 'done(1[2]) && exit(3) && ended(4) && exit(5,==3) && done(\"prep\")'"]),
    ("<Hold>User</Hold>", ["-H"]),
    ('<NotificationList uri="mailto:amy@x.org">JobStart,JobEnd</NotificationList>', ["-B", "-N", "-u amy@x.org"]),
    ("<Restartable>true</Restartable>", ["-r"]),
    ("<Restartable>false</Restartable>", ["-rn"]),
    ("<Priority>50</Priority>", ["-sp 50"]),
    (requested('<Processors op="GE">4</Processors><Processors op="LE">8</Processors>'), ["-n 4,8"]),
    (requested("<Processors>8</Processors>"), ["-n 8"]),
    ("<TaskCount>4</TaskCount>" + requested("<Processors>8</Processors>"), ["-n 4", '-R affinity[core(2)]']),
    ('<TaskDistribution type="TasksPerNode">4</TaskDistribution>' + requested("<Processors>8</Processors>"), ["-n 8", "-R span[ptile=4]"]),
    (requested("<Processors>8</Processors><NodeCount>1</NodeCount>"), ["-n 8", "-R span[hosts=1]"]),
    (requested("<Feature>ib</Feature><Feature>ssd</Feature><Architecture>X86_64</Architecture>"), ['-R "select[ib && ssd && type==X86_64]"']),
    (requested('<Memory units="GB">2</Memory><Disk units="MB">5</Disk><Resource name="License" type="matlab">3</Resource>'),
     ["-R rusage[mem=2048MB:tmp=5MB:matlab=3]"]),
    (requested('<Resource name="GPU">2</Resource>'), ["-gpu num=2"]),
    (requested("<Duration>3600</Duration>"), ["-W 60"]),
    (requested('<Swap units="MB">5</Swap>'), ["-v 5120KB"]),
    (requested("<Node>n1</Node>"), ["-m n1"]),
    (requested('<Node aggregation="List" count="1">n1,n2</Node>'), ['-m "n1 n2"']),
    ('<ResourceLimit name="CPUTime">120</ResourceLimit><ResourceLimit name="StackSize">2048</ResourceLimit>', ["-c 2", "-S 2KB"]),
    ('<ResourceLimit name="Processes">5</ResourceLimit>', ["-p 5"]),
    ("<Interactive>true</Interactive>", ["-Is"]),
    (requested('<Queue>a</Queue><Queue conj="Or">b</Queue>'), ['-q "a b"']),
    (requested('<Feature>ib</Feature><Feature group="1">ssd</Feature><Feature group="-1" conj="Or">nvme</Feature>'), ['-R "select[ib && (ssd || nvme)]"']),
    (requested('<Feature>ib</Feature><Feature op="NE">old</Feature><Node op="NE">n1</Node>'), ['-R "select[ib && !old && hname!=n1]"']),
    (requested('<Feature preference="-1">ssd</Feature><Feature preference="-1" conj="And">ib</Feature>'), ["-R order[ssd:ib]"]),
]
READ = [
    (["-n 4 -W 1:30 -J 'a b'"], "<Name>a b</Name>" + requested("<Processors>4</Processors><Duration>5400</Duration>")),
    (['-R "select[ib] rusage[mem=500MB]"'], requested('<Feature>ib</Feature><Memory units="MB">500</Memory>')),
    (["-w 'done(1)&&exit(2, == 3)'"], '<Dependency>1</Dependency><Dependency condition="OnExit" code="3">2</Dependency>'),
    (["-N"], "<NotificationList>JobEnd</NotificationList>"),
]
KEPT = ['-J "a[1-10]"', '-R "type==any"', '-R "order[ut]"', '-R "2*{select[a]}"', "-w 'done(1) || done(2)'", "-n 4,8,9",
        "-W 60/host", "-app abaqus", '-gpu "mode=shared"', '-R "span[ptile=4,n1:2]"', "-m n1+2", "-b 20:00", '-R "select[mem>500]"', '-R "select[(a]"', "-k /ckpt"]
CHANGED = [
    (requested("<Duration>3601</Duration>"), ["-W 61"], "61 minutes, rounded up"),
    ("<EligibleTime>1800000001</EligibleTime>", ["-b 2027:01:15:08:01"], "a whole minute, 59 s away"),
    ("<DeadlineTime>1800000001</DeadlineTime>", ["-t 2027:01:15:08:00"], "a whole minute, 1 s away"),
    ('<ResourceLimit name="CPUTime">61</ResourceLimit>', ["-c 2"], "2, rounded up"),
    ("<TaskCount>4</TaskCount>" + requested("<NodeCount>2</NodeCount>"), ["-n 4", "-R span[ptile=2]"], "2 of 4 tasks on each node"),
    (requested('<Memory units="KB">1</Memory>'), ["-R rusage[mem=1MB]"], "1 MB, rounded up"),
    ("<Name>a[1-9]</Name>", ["-J a_1-9_"], "it is called 'a_1-9_' there"),
]
REFUSED = [
    "<Dependency>prep</Dependency>", "<Partition>p</Partition>", "<TaskCount>5</TaskCount>" + requested("<NodeCount>2</NodeCount>"),
    "<Project>a&#10;#BSUB -q x</Project>", requested('<Node aggregation="Pattern">n.</Node>'),
    "<NotificationList>None</NotificationList>", "<Priority>0</Priority>",
]
# fmt: on


@pytest.mark.parametrize(("inner", "lines"), BOTH)
def test_what_a_job_says_is_an_option_and_the_option_says_it_again(inner, lines):
    assert options_of(inner, "lsf") == lines
    assert not [loss for loss in losses_of(inner, "lsf") if loss.done is not Done.CONVERTED]
    comes_back(loads(wrapped(inner)), "lsf")
    text, findings = said_by_script("#BSUB", lines, "lsf")
    assert (sorted(text.split("<")), findings) == (sorted(inner.split("<")), ())


@pytest.mark.parametrize(("lines", "inner"), READ)
def test_every_spelling_of_an_option_is_read(lines, inner):
    assert said_by_script("#BSUB", lines, "lsf") == (inner, ())


@pytest.mark.parametrize("line", KEPT)
def test_what_has_no_place_is_kept_and_written_back_where_it_stood(line):
    text = f"#BSUB -P a\n#BSUB {line}\n#BSUB -q x\nexec /bin/true\n"
    (found,) = read(text.encode())
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    written = translate(found.job, "lsf", Settings(residual=False)).text
    assert written.replace('"', "") == f"#!/bin/sh\n{text}".replace("'", "").replace('"', "")


@pytest.mark.parametrize(("inner", "lines", "reason"), CHANGED)
def test_what_is_changed_is_told(inner, lines, reason):
    assert options_of(inner, "lsf") == lines
    assert {loss.reason for loss in losses_of(inner, "lsf")} == {reason}
    comes_back(loads(wrapped(inner)), "lsf")


@pytest.mark.parametrize("inner", REFUSED)
def test_what_has_no_option_is_kept_beside_and_told(inner):
    assert [loss.done for loss in losses_of(inner, "lsf")] == [Done.RESIDUAL]
    assert not [line for line in options_of(inner, "lsf") if not line.startswith("-n")]
    comes_back(loads(wrapped(inner)), "lsf")


@given(data=st.data())
def test_any_of_them_together_come_back(data):
    own = [case[0] for case in (*BOTH, *CHANGED)] + REFUSED
    inner = data.draw(
        st.lists(st.sampled_from(own), unique_by=lambda each: each.split(">")[0].split()[0])
    )
    comes_back(loads(wrapped("".join(inner))), "lsf")


GEOMETRY = '<TaskDistribution type="Geometry">{0,3}{1}{2,4}</TaskDistribution>'


@pytest.mark.parametrize("inner", [GEOMETRY, GEOMETRY.replace("{0,3}{1}{2,4}", "{1,4}{2}{3,5}")])
def test_which_tasks_are_together_is_a_variable_of_the_script(inner):
    text, losses = translate(loads(wrapped(inner)), "lsf")
    assert not [loss for loss in losses if not loss.fact]
    assert "\nexport LSB_TASK_GEOMETRY='{(0,3)(1)(2,4)}'\n" in text
    assert "#BSUB -n 5\n" in text
    comes_back(loads(wrapped(inner)), "lsf")


@pytest.mark.parametrize(("lines", "said"), [
    ("export LSB_TASK_GEOMETRY='{(0,3)(1)}'", '<TaskDistribution type="Geometry">{0,3}{1}</TaskDistribution>'),
    ("export LSB_TASK_GEOMETRY='{(0,3)(1)}'\nexport A=1",
     '<TaskDistribution type="Geometry">{0,3}{1}</TaskDistribution><Environment><Variable name="A">1</Variable></Environment>'),
    ("export LSB_TASK_GEOMETRY='{(0'", '<Environment><Variable name="LSB_TASK_GEOMETRY">{(0</Variable></Environment>'),
])  # fmt: skip
def test_the_variable_of_a_geometry_is_read_where_it_is_one(lines, said):
    (found,) = read(f"#!/bin/sh\n#BSUB -J a\n{lines}\nexec /bin/true\n".encode())
    text = dumps(found.job).replace("<Executable>/bin/true</Executable>", "")
    assert text == f"<Job><Name>a</Name>{said}</Job>"


# What a job asks for, and whose of it the figure is: of each host, or of each task where hosts are not counted.
USAGE = [
    ('<Memory units="GB">8</Memory>', "job", "mem=8192MB"),
    ('<NodeCount>2</NodeCount><Memory units="GB">8</Memory>', "job", "mem=4096MB/host"),
    ('<NodeCount>2</NodeCount><Memory units="GB">8</Memory>', "node", "mem=8192MB/host"),
    (
        '<NodeCount>1</NodeCount><Processors>4</Processors><Memory units="GB">8</Memory>',
        "job",
        "mem=8192MB/host",
    ),
    ('<Processors>4</Processors><Memory units="GB">8</Memory>', "job", "mem=2048MB/task"),
    ('<Processors>4</Processors><Memory units="GB">8</Memory>', "task", "mem=8192MB/task"),
    ('<Processors>4</Processors><Memory units="GB">8</Memory>', "node", "mem=8192MB/host"),
    ('<NodeCount>2</NodeCount><Disk units="GB">8</Disk>', "task", "tmp=4096MB/host"),
]


@pytest.mark.parametrize(("inner", "scope", "expected"), USAGE)
def test_memory_is_of_each_host_or_task_as_bsub_has_it(inner, scope, expected):
    found = options_of(requested(inner), "lsf", memory_scope=scope)
    assert f"-R rusage[{expected}]" in found
    (back,) = read(script("#BSUB", found), "lsf", Settings(memory_scope=scope))
    kept = [item for item in back.job.requested if item.name in ("Memory", "Disk")]
    assert [str(item.text) for item in kept] == ["8"]


# Four tasks with 500 MB: of the job, of each task and of each node.
READ_USAGE = [
    ('-n 4 -R "span[hosts=1] rusage[mem=500MB]"', "500", "125", "500"),
    ('-n 4 -R "span[ptile=2] rusage[mem=500MB]"', "1000", "250", "500"),
    ('-n 4 -R "span[ptile=2] rusage[mem=500MB/task]"', "2000", "500", "1000"),
    ('-n 4 -R "span[ptile=2] rusage[mem=500MB/job]"', "500", "125", "250"),
    ('-n 4 -R "rusage[mem=500MB/task]"', "2000", "500", "2000"),
]


@pytest.mark.parametrize(("line", "job", "task", "node"), READ_USAGE)
def test_memory_of_bsub_is_read_as_that_of_each_host(line, job, task, node):
    for scope, expected in (("job", job), ("task", task), ("node", node)):
        (found,) = read(script("#BSUB", [line]), "lsf", Settings(memory_scope=scope))
        (memory,) = [item for item in found.job.requested if item.name == "Memory"]
        assert (memory.text, memory.attributes["units"]) == (expected, "MB")


def test_a_figure_without_a_unit_or_hosts_is_told():
    _, findings = said_by_script("#BSUB", ['-n 4 -R "rusage[mem=500]"'], "lsf")
    assert [each.code for each in findings] == ["I-UNIT", "W-UNKNOWN"]
    assert "LSF_UNIT_FOR_LIMITS" in findings[0].message
    assert "one is assumed" in findings[1].message


@pytest.mark.parametrize("separator", [":", ","])
def test_gpus_of_rusage_are_no_licences(separator):
    said, findings = said_by_script(
        "#BSUB", [f"-R rusage[matlab=3{separator}ngpus_physical=2]"], "lsf"
    )
    assert '<Resource name="License" type="matlab">3</Resource>' in said
    assert '<Resource name="GPU">2</Resource>' in said
    assert "ngpus" not in said
    assert not findings


def test_gpus_are_those_of_rusage_or_of_their_own_option():
    lines = ["-R rusage[ngpus_physical=2]", "-gpu num=2"]
    said, findings = said_by_script("#BSUB", lines, "lsf")
    assert said.count("GPU") == 1
    assert [each.code for each in findings] == ["W-UNKNOWN"]


@pytest.mark.parametrize("text", ["mem=500/", "mem=500/gpu", "mem=5/task/host"])
def test_another_method_of_rusage_is_kept(text):
    said, findings = said_by_script("#BSUB", [f"-R rusage[{text}]"], "lsf")
    assert "Memory" not in said
    assert [each.code for each in findings] == ["W-UNKNOWN"]
