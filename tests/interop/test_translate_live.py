# ruff: noqa: E501 (documents as people write them)
"""Real Slurm, Grid Engine and HTCondor take every script that tests expect of the translators.

Where a system cannot be started, the tests say why. Cases that name what the system does not have
here, such as a second cluster or GPUs, say so.
"""

import io
from contextlib import ExitStack

import condor_pool
import gridengine_cell
import pytest
import slurm_cluster
from daemons import started
from oracle_cases import put, written
from submit_cases import TAKEN_APART
from translated import requested, wrapped

from sssjob import loads, translate
from sssjob.document.sources import NamedSource
from sssjob.verbs.translate import TranslationTask, run

pytestmark = pytest.mark.interop

FEATURES = ("ib", "ssd", "big", "nvme", "a", "b", "x86_64", "Linux")


@pytest.fixture(scope="module")
def cluster():
    """A cluster with what the cases name."""
    more = ("Licenses=matlab:5,x:5", "MaxArraySize=2000")
    place = started(slurm_cluster.start, lambda place: more)
    for node in slurm_cluster.NODES:
        features = ",".join(FEATURES)
        place.run(
            "scontrol",
            "update",
            f"NodeName={node}",
            f"AvailableFeatures={features}",
            f"ActiveFeatures={features}",
        )
    for queue in ("q", "a", "b", "x"):
        place.run("scontrol", "create", f"PartitionName={queue}", "Nodes=ALL", "State=UP")
    for command in (
        ("add", "qos", "high"), ("add", "account", "p"), ("add", "user", "root", "account=p"),
        ("modify", "user", "root", "set", "qos+=high"),
    ):  # fmt: skip
        place.run("sacctmgr", "-i", *command)
    for name in ("r", "R7"):
        place.run(
            "scontrol", "create", "reservation", f"ReservationName={name}", "StartTime=now",
            "Duration=100", "Nodes=ALL", "Users=root", "Flags=MAINT,OVERLAP",
        )  # fmt: skip
    yield place
    place.stop()


GEOMETRY = '<TaskDistribution type="Geometry">{1,3}{2}</TaskDistribution>' + requested(
    '<Node aggregation="List">n1,n2</Node>'
)


@pytest.mark.parametrize("inner", [*put("sbatch"), GEOMETRY])
def test_slurm_takes_each_script(cluster, inner):
    script = cluster.root / "work/case.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(written(inner, "sbatch"))
    cluster.run("sbatch", "--test-only", script)


# What a job says, and what Slurm shows of it.
SHOWN = [
    (
        requested(
            '<Feature>big</Feature><Feature group="1">ib</Feature><Feature group="-1" conj="Or">ssd</Feature>'
        ),
        "Features=big&(ib|ssd)",
    ),
    (requested('<Node op="NE">n1</Node>'), "ExcNodeList=n1"),
    (requested('<Queue>a</Queue><Queue conj="Or">b</Queue>'), "Partition=a,b"),
    ("<Queue>q</Queue>", "Partition=q"),
    ("<Reservation>r</Reservation>", "Reservation=r"),
    ("<QualityOfService>high</QualityOfService>", "QOS=high"),
    ("<Project>p</Project>", "Account=p"),
    (requested('<NodeCount op="GE">1</NodeCount><NodeCount op="LE">2</NodeCount>'), "NumNodes=1-2"),
    (requested('<Resource name="License" type="matlab">3</Resource>'), "Licenses=matlab:3"),
    ('<Dependency condition="OnExit">{other}</Dependency>', "Dependency=afterany:{other}"),
    ("<InputFile>/dev/null</InputFile>", "StdIn=/dev/null"),
    ("<Restartable>true</Restartable>", "Requeue=1"),
    ('<OutputFile redirectList="Append">/tmp/o</OutputFile>', "StdOut=/tmp/o"),
    ("<DeadlineTime>1900000000</DeadlineTime>", "Deadline=2030-03-17T"),
    ("<OutputFile>/tmp/o-{{{{Id}}}}</OutputFile>", "StdOut=/tmp/o-{number} "),
]


@pytest.mark.parametrize(("inner", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_slurm_has_of_a_script_what_the_job_asks_for(cluster, inner, shown):
    script = cluster.root / "work/case.sh"
    script.parent.mkdir(exist_ok=True)

    def held(text):
        script.write_text(translate(loads(wrapped(f"{text}<Hold>User</Hold>")), to="sbatch").text)
        return cluster.run("sbatch", "--parsable", script).strip()

    other = held("")
    number = held(inner.format(other=other))
    found = cluster.run("scontrol", "-o", "show", "job", number)
    cluster.run("scancel", number, other)
    assert shown.format(other=other, number=number) in found


@pytest.fixture(scope="module")
def cell():
    """A cell with the resources, the queues and the project that the cases name."""
    resources = [f"{name} {name} BOOL == YES NO 0 0" for name in ("ib", "ssd", "big", "nvme")]
    resources += [f"{name} {name} INT <= YES YES 0 0" for name in ("gpu", "matlab", "x")]
    resources += ["gpu_type gpu_type STRING == YES NO NONE 0"]
    queues = {name: {} for name in ("main.q", "q", "a", "b")}
    place = started(gridengine_cell.start, lambda place: queues)
    complexes = place.root / "complexes"
    complexes.write_text(place.run("qconf", "-sc") + "".join(f"{line}\n" for line in resources))
    place.run("qconf", "-Mc", complexes)
    project = place.root / "project"
    project.write_text("name p\noticket 0\nfshare 0\nacl NONE\nxacl NONE\n")
    place.run("qconf", "-Aprj", project)
    yield place
    place.stop()


@pytest.mark.parametrize("inner", put("sge"))
def test_grid_engine_takes_each_script(cell, inner):
    script = cell.root / "case.sh"
    script.write_text(written(inner, "sge"))
    printed = cell.run("qsub", "-w", "n", "-verify", script)
    assert "script_file" in printed


VERIFIED = [
    (requested('<Queue>a</Queue><Queue conj="Or">b</Queue>'), "hard_queue_list", "a,b"),
    (requested('<Node op="NE">n1</Node>'), "hard resource_list", "h=!n1"),
    (
        requested('<Node aggregation="Range" op="NE">n[1-2]</Node><Node>m1</Node>'),
        "hard resource_list",
        "h=(m1)&!(n1|n2)",
    ),
    (requested('<Feature preference="-1">ssd</Feature>'), "soft resource_list", "ssd=TRUE"),
]


@pytest.mark.parametrize(("inner", "name", "text"), VERIFIED)
def test_grid_engine_has_of_a_script_what_the_job_asks_for(cell, inner, name, text):
    script = cell.root / "case.sh"
    script.write_text(translate(loads(wrapped(inner)), to="sge").text)
    printed = cell.run("qsub", "-w", "n", "-verify", script)
    found = {key: value.strip() for key, _, value in
             (line.partition(":") for line in printed.splitlines())}  # fmt: skip
    assert found.get(name) == text, printed


@pytest.mark.parametrize(("directive", "name", "text"), TAKEN_APART)
def test_grid_engine_takes_a_directive_apart_as_it_is_read(cell, directive, name, text):
    script = cell.root / "case.sh"
    script.write_text(f"#!/bin/sh\n#$ {directive}\ndate\n")
    printed = cell.run("qsub", "-w", "n", "-verify", script)
    found = [line.partition(":")[2] for line in printed.splitlines() if line.startswith(name)]
    assert [each.strip().removeprefix("TERM,") for each in found] == [text.strip()], printed


@pytest.fixture(scope="module")
def condor():
    """The commands of HTCondor, of which none needs a daemon."""
    with ExitStack() as stack:
        yield started(stack.enter_context, condor_pool.tools())


@pytest.mark.parametrize("inner", put("condor"))
def test_condor_submit_takes_each_file(condor, inner):
    condor("mkdir", "-p", "/a b", "/data")
    text = written(inner, "condor")
    done = condor("condor_submit", "-dry-run", "-", "-", stdin=text)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'Cmd="/bin/true"' in done.stdout


GROUP = """<JobGroup><Id>g</Id>
<Job><Id>last</Id><Executable>/bin/true</Executable><Dependency>a.1</Dependency>
<Dependency condition="OnExit" code="3">b</Dependency></Job>
<Job><Id>a.1</Id><Name>first of all</Name><Executable>/bin/true</Executable><Queue>x</Queue></Job>
<Job><Id>b</Id><Executable>/bin/true</Executable><Dependency>a.1</Dependency></Job>
<Job><Id>c</Id><Executable>/bin/true</Executable><Dependency condition="OnFailure">d</Dependency></Job>
<Job><Id>d</Id><Executable>/bin/true</Executable></Job></JobGroup>
"""


def test_dagman_reads_a_dag_as_it_is_meant(condor):
    source = NamedSource("jobs.xml", io.BytesIO(GROUP.encode()))
    text = "".join(each.text for each in run(TranslationTask("dagman"), iter((source,))))
    # DAGMan writes down what it has read, and ends; it wants a place of its own, not in /tmp.
    done = condor("/bin/sh", "-c", """
        rm -rf /data/dag && mkdir -p /data/dag && chmod 777 /data/dag && cd /data/dag && cat > x.dag
        _CONDOR_DAGMAN_LOG=/data/dag/log condor_dagman -p 0 -f -l . -Lockfile lock -AutoRescue 0 \
            -DoRescueFrom 0 -Dag x.dag -DumpRescue -Suppress_notification \
            -CsdVersion "$(condor_version | head -1)" -dagman /usr/bin/condor_dagman
        cat ./*rescue* log
    """, stdin=text)  # fmt: skip
    for line in (
        "SCRIPT POST b /usr/bin/test $RETURN -eq 3", "SCRIPT POST d /usr/bin/test $RETURN -ne 0",
        "PARENT n_612e31 CHILD  last b", "PARENT b CHILD  last", "PARENT d CHILD  c",
    ):  # fmt: skip
        assert f"{line}\n" in f"{done.stdout}\n", done.stdout + done.stderr
