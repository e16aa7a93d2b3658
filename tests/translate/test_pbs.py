# ruff: noqa: E501 (a case is a line)
import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated import (
    comes_back,
    losses_of,
    options_of,
    requested,
    said_by_script,
    script,
    wrapped,
)

from sssjob.check.findings import check
from sssjob.document import loads, to_tree
from sssjob.model import Property
from sssjob.translate import Done, Settings, read, recognise, translate
from sssjob.translate.quoting import quoted, split

# What both take.
# fmt: off
COMMON = [
    ("<Name>scan</Name>", ["-N scan"]),
    ("<Queue>q</Queue>", ["-q q"]),
    ("<Queue>q</Queue><Machine>m</Machine>", ["-q q@m"]),
    ("<OutputFile>o</OutputFile><ErrorFile>e</ErrorFile>", ["-o o", "-e e"]),
    ('<OutputFile>/a b</OutputFile><ErrorFile redirectList="Merge"/>', ['-o "/a b"', "-j oe"]),
    ('<OutputFile redirectList="Keep"/><ErrorFile redirectList="Keep"/>', ["-k oe"]),
    ('<Environment export="true"/>', ["-V"]),
    ("<EligibleTime>1800000000</EligibleTime>", ["-a 202701150800.00"]),
    ('<Dependency>7.head</Dependency><Dependency condition="OnExit">8[]</Dependency>', ["-W depend=afterok:7.head,afterany:8[]"]),
    ("<Hold>User</Hold>", ["-h"]),
    ("<Interactive>true</Interactive>", ["-I"]),
    ('<NotificationList uri="mailto:amy@x.org">All</NotificationList>', ["-m abe", "-M amy@x.org"]),
    ("<NotificationList>JobStart,JobEnd</NotificationList>", ["-m be"]),
    ("<Restartable>false</Restartable>", ["-r n"]),
    ("<Priority>-5</Priority>", ["-p -5"]),
    (requested("<Duration>95053</Duration>"), ["-l walltime=26:24:13"]),
    (requested('<Swap units="GB">2</Swap>'), ["-l vmem=2gb"]),
    ('<ResourceLimit name="CPUTime">90</ResourceLimit>', ["-l cput=00:01:30"]),
]
CHUNKS = [
    ("<Reservation>R12.head</Reservation>", ["-q R12.head"]),
    ("<Checkpointable>true</Checkpointable>", ["-c u"]),
    ("<Checkpointable>false</Checkpointable>", ["-c n"]),
    ("<Project>p</Project>", ["-P p"]),
    (requested("<NodeCount>2</NodeCount><Processors>2</Processors>"), ["-l select=2:ncpus=1"]),
    ("<TaskCount>4</TaskCount>" + requested("<Processors>4</Processors>"), ["-l select=4:ncpus=1:mpiprocs=1"]),
    ("<TaskCount>4</TaskCount>" + requested("<Processors>8</Processors>"), ["-l select=4:ncpus=2:mpiprocs=1:ompthreads=2"]),
    ('<TaskDistribution type="TasksPerNode">4</TaskDistribution><TaskCount>8</TaskCount>' + requested("<NodeCount>2</NodeCount><Processors>16</Processors>"),
     ["-l select=2:ncpus=8:mpiprocs=4:ompthreads=2"]),
    (requested('<NodeCount>2</NodeCount><Processors>2</Processors><Memory units="GB">4</Memory><Resource name="GPU">2</Resource><Feature>ib</Feature>'),
     ["-l select=2:ncpus=1:mem=2gb:ib=True:ngpus=1"]),
    (requested('<NodeCount>2</NodeCount><Processors>2</Processors><Node aggregation="Range">n[1-2]</Node>'),
     ["-l select=1:ncpus=1:host=n1+1:ncpus=1:host=n2"]),
    (requested("<NodeCount>1</NodeCount><Processors>1</Processors><Architecture>linux</Architecture>"), ["-l select=1:ncpus=1:arch=linux"]),
    ('<TaskDistribution type="Rule">RoundRobin</TaskDistribution>', ["-l place=scatter"]),
    ("<TaskGroup><TaskCount>2</TaskCount><Requested><Processors>2</Processors></Requested></TaskGroup>"
     "<TaskGroup><TaskCount>1</TaskCount><Requested><Processors>8</Processors></Requested></TaskGroup>",
     ["-l select=2:ncpus=1:mpiprocs=1+1:ncpus=8:mpiprocs=1:ompthreads=8"]),
]
NODES = [
    ("<Project>p</Project>", ["-A p"]),
    ("<QualityOfService>high</QualityOfService>", ["-l qos=high"]),
    ("<Partition>p</Partition>", ["-l partition=p"]),
    ("<Reservation>r</Reservation>", ["-W x=advres:r"]),
    ("<InitialWorkingDirectory>/a b</InitialWorkingDirectory>", ['-d "/a b"']),
    ("<Checkpointable>true</Checkpointable>", ["-c enabled"]),
    ("<Checkpointable>false</Checkpointable>", ["-c none"]),
    ('<TaskDistribution type="TasksPerNode">4</TaskDistribution>' + requested("<NodeCount>2</NodeCount><Processors>8</Processors>"), ["-l nodes=2:ppn=4"]),
    ('<TaskDistribution type="TasksPerNode">4</TaskDistribution>' + requested(
        '<NodeCount>2</NodeCount><Processors>8</Processors><Resource name="GPU">4</Resource><Feature>ib</Feature><Feature>ssd</Feature>'),
     ["-l nodes=2:ppn=4:gpus=2:ib:ssd"]),
    (requested('<Memory units="GB">2</Memory><Disk units="MB">5</Disk>'), ["-l mem=2gb", "-l file=5mb"]),
    (requested('<Architecture>x86</Architecture><OperatingSystem>linux</OperatingSystem>'), ["-l arch=x86", "-l opsys=linux"]),
    (requested('<Resource name="License" type="matlab">3</Resource>'), ["-l gres=matlab+3"]),
]
# fmt: on
CASES = [(target, *case) for target in ("pbs", "torque") for case in COMMON]
CASES += [("pbs", *case) for case in CHUNKS] + [("torque", *case) for case in NODES]


@pytest.mark.parametrize(("target", "inner", "lines"), CASES)
def test_what_a_job_says_is_an_option_and_the_option_says_it_again(target, inner, lines):
    found = [line for line in options_of(inner, target) if line != "-S /bin/sh"]
    assert sorted(found) == sorted(lines)
    wrong = [loss for loss in losses_of(inner, target) if loss.done is not Done.CONVERTED]
    assert not wrong
    comes_back(loads(wrapped(inner)), target)
    text, findings = said_by_script("#PBS", ["-S /bin/sh", *lines], target)
    assert (sorted_parts(text), findings) == (sorted_parts(inner), ())


def sorted_parts(text):
    """The elements of a text whose order says nothing."""
    return sorted(text.replace("><", ">\n<").splitlines())


# fmt: off
READ = [
    ("pbs", ["-l select=2:ncpus=4:mpiprocs=2+1:ncpus=8"],
     "<TaskGroup><TaskDistribution type=\"TasksPerNode\">2</TaskDistribution><TaskCount>4</TaskCount><Requested><NodeCount>2</NodeCount><Processors>8</Processors></Requested></TaskGroup>"
     '<TaskGroup><TaskDistribution type="TasksPerNode">1</TaskDistribution><TaskCount>1</TaskCount><Requested><NodeCount>1</NodeCount><Processors>8</Processors></Requested></TaskGroup>'),
    ("pbs", ["-l select=1:ncpus=4,walltime=1:00:00", "-mea", "-N 'a b'"],
     '<Name>a b</Name><NotificationList>JobEnd</NotificationList><TaskDistribution type="TasksPerNode">1</TaskDistribution><TaskCount>1</TaskCount><Extension type="pbs" name="-m">a</Extension><Extension type="pbs" name="order">-l select, -l walltime, -m, -N</Extension>'
     + requested("<NodeCount>1</NodeCount><Processors>4</Processors><Duration>3600</Duration>")),
    ("pbs", ["-A p"], "<Project>p</Project>"),
    ("pbs", ["-v A=1,B=2"], '<Environment><Variable name="A">1</Variable><Variable name="B">2</Variable></Environment>'),
    ("torque", ["-l nodes=n1:ppn=2+n2:ppn=2"],
     '<TaskDistribution type="TasksPerNode">2</TaskDistribution>' + requested('<Node aggregation="Range">n[1-2]</Node><NodeCount>2</NodeCount><Processors>4</Processors>')),
    ("torque", ["-l nodes=2:ppn=2,pmem=1gb"],
     '<TaskDistribution type="TasksPerNode">2</TaskDistribution>' + requested('<NodeCount>2</NodeCount><Processors>4</Processors><Memory units="GB">4</Memory>')),
    ("torque", ["-W depend=afterok:1:2,x=advres:r"], "<Reservation>r</Reservation><Dependency>1</Dependency><Dependency>2</Dependency>"),
]
KEPT = [
    ("pbs", "-l select=1:ncpus=4:vnode=x"), ("pbs", "-l place=pack"), ("pbs", "-J 1-10"), ("pbs", "-W block=true"),
    ("pbs", "-W depend=beforeok:7"), ("pbs", "-l software=x"), ("pbs", "-m a"), ("pbs", "-v PATH"), ("pbs", "-k oed -x"),
    ("torque", "-l nodes=2:ppn=4:gpus=1:shared"), ("torque", "-l nodes=2:ppn=4+1:ppn=2"), ("torque", "-t 1-10"), ("torque", "-W group_list=x"), ("torque", "-l other"),
]
# fmt: on


@pytest.mark.parametrize(("target", "lines", "inner"), READ)
def test_every_spelling_of_an_option_is_read(target, lines, inner):
    assert said_by_script("#PBS", ["-S /bin/sh", *lines], target)[0].replace("-S, ", "") == inner


@pytest.mark.parametrize("select", [
    "2:ncpus=4:mpiprocs=2", "3:ncpus=5:mpiprocs=2", "2:ncpus=4", "2:ncpus=4:mpiprocs=4",
    "4:ncpus=1:mpiprocs=1", "2:ncpus=2:mpiprocs=4", "2:ncpus=4:mpiprocs=2+1:ncpus=8", "1:mpiprocs=3",
])  # fmt: skip
def test_the_tasks_of_chunks_agree_with_their_nodes_and_processors(select):
    """Rule 5.2 of the layout; without a TaskCount each processor would be a task."""
    (found,) = read(f"#!/bin/sh\n#PBS -l select={select}\ntrue\n".encode(), "pbs")
    assert [each for each in check(to_tree(found.job)) if each.code == "E-COUNTS"] == []


@pytest.mark.parametrize(("target", "line"), [case for case in KEPT if " -x" not in case[1]])
def test_what_has_no_place_is_kept_and_written_back_where_it_stood(target, line):
    text = f"#PBS -S /bin/sh\n#PBS -N a\n#PBS {line}\n#PBS -q x\nexec /bin/true\n"
    (found,) = read(text.encode(), target)
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    assert translate(found.job, target, Settings(residual=False)).text == f"#!/bin/sh\n{text}"


# fmt: off
CHANGED = [
    ("pbs", "<Name>7 up!</Name>", ["-N _7_up_"], "it is called '_7_up_' there"),
    ("torque", f"<Name>{'a' * 20}</Name>", [f"-N {'a' * 15}"], f"it is called '{'a' * 15}' there"),
    ("pbs", requested('<NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount>'), ["-l select=2:ncpus=1"], "the least of a range: only one number can be asked for"),
    ("pbs", "<TaskCount>5</TaskCount>" + requested("<NodeCount>2</NodeCount>"), ["-l select=1:ncpus=3:mpiprocs=3+1:ncpus=2:mpiprocs=2"], ""),
    ("pbs", requested('<NodeCount>2</NodeCount><Memory units="B">5000</Memory>'), ["-l select=2:ncpus=1:mem=3kb"], "3kb of each chunk, rounded up"),
]
# fmt: on


@pytest.mark.parametrize(("target", "inner", "lines", "reason"), CHANGED)
def test_what_is_changed_is_told(target, inner, lines, reason):
    assert [line for line in options_of(inner, target) if "-S" not in line] == lines
    assert {loss.reason for loss in losses_of(inner, target)} == ({reason} if reason else set())
    comes_back(loads(wrapped(inner)), target)


REFUSED = [
    ("pbs", "<QualityOfService>x</QualityOfService>"), ("pbs", "<DeadlineTime>5</DeadlineTime>"),
    ("pbs", requested("<Disk>5</Disk>")), ("torque", requested('<Node aggregation="Pattern">n</Node>')),
    ("pbs", "<Dependency condition='OnExit' code='3'>7</Dependency>"), ("pbs", "<Reservation>R1x</Reservation>"),
    ("torque", "<Project>a&#10;#PBS -q x</Project>"), ("pbs", "<Priority>5000</Priority>"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "inner"), REFUSED)
def test_what_has_no_option_is_kept_beside_and_told(target, inner):
    assert [loss.done for loss in losses_of(inner, target)] == [Done.RESIDUAL]
    assert [line for line in options_of(inner, target) if "-S" not in line] == []
    comes_back(loads(wrapped(inner)), target)


@pytest.mark.parametrize(("line", "name"), [("-l nodes=2:ppn=4", "torque"), ("-l select=2", "pbs")])
def test_the_two_are_told_apart_by_their_resources(line, name):
    assert recognise(f"#!/bin/sh\n#PBS {line}\n".encode()) == name


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0'", exclude_categories=["Cs"]))))
def test_qsub_reads_what_is_quoted_for_it(words):
    assert split(" ".join(map(quoted, words))) == words


@pytest.mark.parametrize("target", ["pbs", "torque"])
@given(data=st.data())
def test_any_of_them_together_come_back(target, data):
    own = [case[1] for case in (*CASES, *CHANGED, *REFUSED) if case[0] == target]
    inner = data.draw(
        st.lists(st.sampled_from(own), unique_by=lambda each: each.split(">")[0].split()[0])
    )
    comes_back(loads(wrapped("".join(inner))), target)


@pytest.mark.parametrize("line", ["-l nodes=2:ppn=4", "-d /data", "-t 1-3", "-l qos=high", "-l partition=x",
                                  "-l gres=x+3", "-W x=advres:R7", "-l opsys=Linux", "-c none", "-N a -l walltime=1,pmem=1gb"])  # fmt: skip
def test_a_script_of_torque_is_known_by_its_own_options(line):
    assert recognise(script("#PBS", ["-N a", line])) == "torque"


@pytest.mark.parametrize("line", ["-l mem=2gb", "-l select=1:ncpus=2", "-c n", "-N nodes=2", "-l walltime=1:00:00", "-J 1-3",
                                  "-W depend=afterok:1", "-v nodes=2"])  # fmt: skip
def test_a_script_of_pbs_is_none_of_torque(line):
    assert recognise(script("#PBS", [line])) == "pbs"


def test_what_is_written_for_torque_is_read_as_it():
    job = loads(
        wrapped(
            "<InitialWorkingDirectory>/d</InitialWorkingDirectory>"
            + requested('<Memory units="GB">2</Memory>')
        )
    )
    (found,) = read(translate(job, "torque", Settings(residual=False)).text.encode())
    assert found.job.get("InitialWorkingDirectory") == "/d"
    assert not found.findings


def test_memory_without_chunks_is_that_of_the_job():
    text, findings = said_by_script("#PBS", ["-l mem=2gb"], "pbs")
    assert (text, findings) == (requested('<Memory units="GB">2</Memory>'), ())
    _, findings = said_by_script("#PBS", ["-l mem=2gb,select=1:ncpus=1"], "pbs")
    assert [each.code for each in findings] == ["W-UNKNOWN"]


@pytest.mark.parametrize("target", ["pbs", "torque"])
@pytest.mark.parametrize("value", ["n", "doe", "o,x", "-7"])
def test_what_is_kept_where_a_job_runs_is_o_or_e_or_stays_an_option(target, value):
    """Other letters were left out."""
    (found,) = read(f"#!/bin/sh\n#PBS -k {value}\ndate\n".encode(), target)
    assert found.job.get("Extension") == value
    assert any("-k" in each.message for each in found.findings)
    given = Settings(residual=False, files=found.files)
    assert f"#PBS -k {value}" in translate(found.job, target, given).text


CHUNKED = [  # what is read, and what is written of it: the defaults are said
    ("1:ncpus=4:mem=8gb+1:ncpus=2:ngpus=1",
     "1:ncpus=4:mpiprocs=1:ompthreads=4:mem=8gb+1:ncpus=2:mpiprocs=1:ompthreads=2:ngpus=1"),
    ("1:ncpus=4", "1:ncpus=4:mpiprocs=1:ompthreads=4"),
    ("3:ncpus=4:mem=8gb", "3:ncpus=4:mpiprocs=1:ompthreads=4:mem=8gb"),
    ("2:ncpus=8:mpiprocs=4:mem=8gb:ngpus=2:accelerator_model=a100+1:ncpus=1:mpiprocs=1:mem=1gb",
     "2:ncpus=8:mpiprocs=4:ompthreads=2:mem=8gb:ngpus=2:accelerator_model=a100"
     "+1:ncpus=1:mpiprocs=1:mem=1gb"),
    ("1:ngpus=1+2:ncpus=2:mpiprocs=2:mem=6gb:ib=True:ngpus=4",
     "1:ncpus=1:ngpus=1+2:ncpus=2:mpiprocs=2:mem=6gb:ib=True:ngpus=4"),
    ("1:mpiprocs=4", "1:mpiprocs=4"),
]  # fmt: skip


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize(("value", "written"), CHUNKED)
def test_each_chunk_comes_back_with_its_processors_memory_and_gpus(value, written, residual):
    (found,) = read(script("#PBS", [f"-l select={value}"]), "pbs")
    text, losses = translate(found.job, "pbs", Settings(residual=residual))
    assert f"#PBS -l select={written}\n" in text
    assert not [loss for loss in losses if loss.done is not Done.CONVERTED]
    comes_back(found.job, "pbs")


def test_a_chunk_without_mpiprocs_is_one_task_with_all_its_processors():
    (found,) = read(script("#PBS", ["-l select=1:ncpus=4"]), "pbs")
    text = translate(found.job, "sbatch", Settings(residual=False)).text
    assert "#SBATCH --cpus-per-task=4\n" in text
    assert "--ntasks=4" not in text


def test_licences_of_task_groups_are_those_of_the_job_together():
    group = requested('<Processors>1</Processors><Resource name="License" type="x">2</Resource>')
    inner = f"<TaskGroup>{group}</TaskGroup><TaskGroup>{group}</TaskGroup>"
    assert "-l x=4" in options_of(inner, "pbs")


def test_gpus_that_a_job_names_beside_those_of_its_task_groups_are_told():
    gpu = '<Resource name="GPU">1</Resource>'
    group = requested(f"<Processors>1</Processors>{gpu}")
    inner = f"<TaskGroup>{group}</TaskGroup>" * 2 + requested(gpu.replace("1", "3"))
    chunk = "1:ncpus=1:mpiprocs=1:ngpus=1"
    assert f"-l select={chunk}+{chunk}" in options_of(inner, "pbs")
    assert "the task groups say it" in {loss.reason for loss in losses_of(inner, "pbs")}


@pytest.mark.parametrize("line", [
    "-l mem=64gb,pmem=2gb,nodes=2:ppn=8", "-l mem=16gb,pmem=2gb,nodes=1:ppn=4",
    "-l pmem=2gb,mem=16gb", "-l mem=1gb,pmem=1gb",
])  # fmt: skip
@pytest.mark.parametrize("target", ["torque", "pbs", "sbatch", "sge", "lsf"])
def test_memory_of_each_process_beside_that_of_the_job_is_kept_and_told(line, target):
    (found,) = read(script("#PBS", [line]), "torque")
    assert "the memory of the whole job is asked for as well" in found.findings[0].message
    text, losses = translate(found.job, target, Settings(residual=False))
    assert (target == "torque") == (f"#PBS -l pmem={line.split('pmem=')[1][:3]}\n" in text)
    assert (target == "torque") != any("-l pmem" in loss.shown for loss in losses)
    comes_back(found.job, target)


@pytest.mark.parametrize(
    "lines, project, kept",
    [
        (["-A phys"], "phys", []),
        (["-P p1"], "p1", []),
        (["-A phys", "-P p1"], "phys", ["-P p1"]),
        (["-P p1", "-A phys"], "phys", ["-P p1"]),
    ],
)
def test_the_account_is_charged_and_a_project_beside_it_stays(lines, project, kept):
    script = "".join(f"#PBS {line}\n" for line in ["-S /bin/sh", *lines])
    (found,) = read(f"#!/bin/sh\n{script}exec /bin/date\n".encode(), "pbs")
    assert found.job.get("Project") == project
    options = [
        f"{item.attributes['name']} {item.text}"
        for item in found.job.properties.all("Extension")
        if item.attributes["name"] != "order"
    ]
    assert options == kept
    again = translate(found.job, "pbs").text
    assert sorted(
        line for line in again.splitlines() if line[:7] in ("#PBS -A", "#PBS -P")
    ) == sorted(f"#PBS {line}" for line in ([*lines] if kept else [f"-P {project}"]))


def test_two_chunks_on_one_host_are_no_two_nodes():
    text = b"#!/bin/sh\n#PBS -l select=1:ncpus=2:host=a+1:ncpus=2:host=a\ndate\n"
    [reading] = read(text, "pbs")
    job = reading.job
    assert [group.requested.text("Node") for group in job.task_groups] == ["a", "a"]
    assert [group.requested.text("NodeCount") for group in job.task_groups] == ["1", "1"]
    assert "E-COUNTS" not in {found.code for found in check(to_tree(job))}
    run = job.setting(Property("Executable", "/bin/date"))
    assert "host=a+1:" in translate(run, "pbs", Settings(residual=False)).text
