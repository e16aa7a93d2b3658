# ruff: noqa: E501 (a script is a line)
"""Properties of every pair of a writer and a reader."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from job_parts import OWN, REQUESTED, document, picked
from json_values import nodes, replaced
from translated import JOBS, comes_back, job_of, wrapped

from sssjob import registry
from sssjob.document import loads
from sssjob.document.canonical import canon
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.translate import Settings, Untranslatable, read, translate

BOTH_WAYS = [name for name, row in registry.targets().items() if row.reads and row.writes]


@pytest.mark.parametrize("target", BOTH_WAYS)
@given(tree=JOBS)
def test_what_is_written_and_read_is_the_same_job(target, tree):
    assume(comes_back(job_of(tree), target))


TEXTS = (
    "Name", "Project", "Queue", "QualityOfService", "Partition", "Machine", "Reservation", "Shell",
    "InitialWorkingDirectory", "InputFile", "OutputFile", "ErrorFile", "Architecture",
    "OperatingSystem", "Feature", "NotificationList", "Executable", "Dependency",
)  # fmt: skip


# What only Python, but neither XML nor a batch system, takes for white space or the end of a line.
@pytest.mark.parametrize("sign", ["\x85", "\xa0", "\u2028", "\u3000"])
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("target", BOTH_WAYS)
def test_a_sign_that_is_no_white_space_of_xml_comes_back(target, name, sign):
    runs = "" if name == "Executable" else "<Executable>/bin/true</Executable>"
    for text in (sign, f"{sign}a", f"a{sign}", f"a{sign}b", f"/{sign}", f"a {sign} b"):
        comes_back(loads(f"<Job><Id>1</Id><{name}>{text}</{name}>{runs}</Job>"), target)


def there_and_back(job, first, second):
    """A job by way of two targets is what it was by way of the first; False where one is not written."""
    settings = Settings(unstated="Ignore")
    try:
        (mine,) = read(translate(job, first, settings).text.encode(), first)
        given = Settings(unstated="Ignore", files=mine.files)
        (theirs,) = read(translate(mine.job, second, given).text.encode(), second)
        given = Settings(unstated="Ignore", files=theirs.files)
        (again,) = read(translate(theirs.job, first, given).text.encode(), first)
    except (InvalidValue, Untranslatable):
        return False
    assert canon(again.job) == canon(mine.job) == canon(theirs.job)
    assert again.files == mine.files
    return True


@pytest.mark.parametrize("first", BOTH_WAYS)
@given(tree=JOBS, second=st.sampled_from(BOTH_WAYS))
def test_a_job_is_the_same_by_way_of_any_other_target(first, second, tree):
    assume(there_and_back(job_of(tree), first, second))


# Extensions that mean something to one of the two, and an array.
KEPT = (
    '<Extension type="array" name="indices">1-4</Extension>', '<Extension type="sbatch" name="--odd">1</Extension>',
    '<Extension type="sge" name="-l foo">1</Extension>', '<Extension type="Flux" name="attributes/x">[1]</Extension>',
    '<Extension type="PSI/J" name="launcher">"mpirun"</Extension>', '<Extension type="lsf" name="-app">x</Extension>',
    "<OutputFile>{{ArrayIndex:3}}-%j</OutputFile>",
    '<TaskGroup><Extension type="array" name="indices">1-4</Extension><TaskCount>4</TaskCount><Requested><Processors>4</Processors></Requested></TaskGroup>',
)  # fmt: skip


@pytest.mark.parametrize("first", BOTH_WAYS)
@given(own=picked((*OWN, *KEPT), 4), asked=picked(REQUESTED, 4), second=st.sampled_from(BOTH_WAYS))
def test_a_job_of_every_kind_of_parts_is_the_same_by_way_of_any_other_target(
    first, second, own, asked
):
    assume(there_and_back(document(own, asked), first, second))


RICH = wrapped(
    '<Name>scan</Name><Project>p</Project><Queue>long</Queue><Hold>User</Hold><Priority>5</Priority>'
    '<InitialWorkingDirectory>/tmp/a b</InitialWorkingDirectory><OutputFile>o</OutputFile>'
    '<ErrorFile redirectList="Merge"/><Environment export="true"><Variable name="A">x\ny\'"$</Variable>'
    '</Environment><EligibleTime>1900000000</EligibleTime><Restartable>false</Restartable>'
    '<Dependency condition="OnExit">17</Dependency><NotificationList uri="a@b.c">JobEnd</NotificationList>'
    '<ResourceLimit name="CPUTime">600</ResourceLimit><Extension type="mine" name="x">1</Extension>'
    '<TaskCount>8</TaskCount><Requested><NodeCount>2</NodeCount><Processors>16</Processors>'
    '<Memory units="MB">3001</Memory><Duration>3661</Duration><Feature group="1">ib</Feature>'
    '<Feature conj="Or" group="-1">ssd</Feature><Feature preference="-1">new</Feature>'
    '<Node op="NE">n7</Node><Resource name="GPU">4</Resource></Requested>'
    '<Delivered><Processors>16</Processors></Delivered>'
)  # fmt: skip
# A script of people in each system, with options that no job object has a word for.
SCRIPTS = {
    "sbatch": b"#!/bin/bash\n#SBATCH -J a -N2 --exclusive\n#SBATCH --array=1-3 --odd=1 --mem=2000\n#SBATCH --nice\nsrun ./a\n",
    "pbs": b"#!/bin/bash\n#PBS -N a -l select=2:ncpus=4:mem=4gb:foo=1,walltime=1:0:0\n#PBS -J 1-3 -W block=true\n./a\n",
    "torque": b"#!/bin/sh\n#PBS -l nodes=2:ppn=4,pmem=1gb\n#PBS -t 1-3 -W x=odd:1 -d /tmp\n./a\n",
    "sge": b"#!/bin/sh\n#$ -N a -cwd -pe mpi 4-8 -l h_vmem=1g,foo=3\n#$ -soft -l ib -t 1-3\n./a\n",
    "lsf": b"#!/bin/sh\n#BSUB -J \"a[1-3]\" -n 4,8 -R \"select[a||b] rusage[mem=5]\"\n#BSUB -app x\n./a\n",
    "condor": b"executable = /a\n+Odd = 1\nrequest_cpus = 2\nrank = TARGET.Mips\nqueue 5\n",
    "psij": b'{"executable": "/a", "launcher": "mpirun", "attributes": {"custom_attributes": {"slurm.qos": "x"}}}',
    "flux": b'{"version": 1, "resources": [{"type": "slot", "label": "task", "count": 2, "with": [{"type": "core", "count": 1}]}],'
            b'"tasks": [{"command": ["/a"], "slot": "task", "count": {"per_slot": 1}}],'
            b'"attributes": {"system": {"duration": 60, "odd": {"x": [1]}}}}',
    "slurmrest": b'{"job": {"name": "a", "script": "#!/bin/sh\\n./a\\n", "environment": ["A=1"], "odd": {"x": 1}}}',
}  # fmt: skip


@pytest.mark.parametrize("second", BOTH_WAYS)
@pytest.mark.parametrize("first", BOTH_WAYS)
def test_a_rich_job_is_the_same_by_way_of_each_pair(first, second):
    assert there_and_back(loads(RICH), first, second)


NO_FILES = ("condor", "dagman")  # which run programs only


@pytest.mark.parametrize("second", BOTH_WAYS)
@pytest.mark.parametrize("first", SCRIPTS)
def test_what_people_write_is_the_same_by_way_of_each_other_target(first, second):
    (mine,) = read(SCRIPTS[first], first)
    given = Settings(files=mine.files)
    own = translate(mine.job, first, given).text
    if mine.files and second in NO_FILES:
        with pytest.raises(InvalidValue):
            translate(mine.job, second, given)
        return
    if mine.files and second == "psij":  # which says so
        assert "it is no path" in {
            loss.reason for loss in translate(mine.job, second, given).losses
        }
        return
    (theirs,) = read(translate(mine.job, second, given).text.encode(), second)
    job = theirs.job.removing("Id") if second == "sss" else theirs.job  # where each job has one
    assert translate(job, first, Settings(files=theirs.files)).text == own


READ = [name for name, row in registry.targets().items() if row.reads]
SIGNS = st.sampled_from([
    b"\0", b"\xff", b"\n", b"=", b",", b":", b"'", b'"', b"{", b"}", b"[", b"]", b"<", b">", b"&", b"(", b"|", b"||", b"!",
    b"-", b"--", b"-l ", b"null", b"1e999", b"-1", b"9" * 30, b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"$(X)", b"queue 5 in (",
    b"select[", b"rusage[mem=", b"span[", b"1-", b"-pe x 1-", b"\xc2\xa0", b"\xe2\x80\xa8",
]) | st.binary(max_size=4)  # fmt: skip
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), SIGNS), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


def sources(name):
    """What people write, and what we do of a rich job."""
    settings = Settings(unstated="Ignore")
    ours = translate(loads(RICH), name, settings).text.encode()
    return [*([SCRIPTS[name]] if name in SCRIPTS else []), ours]


def with_edits(data, edits):
    """Bytes with others in the place of some of them."""
    for place, length, sign in edits:
        start = int(place * len(data))
        data = data[:start] + sign + data[start + length :]
    return data


def is_read(data, name, settings):
    """Read, and write what was read; raises nothing but ours."""
    try:
        for found in read(data, name, settings):
            assert found.job is not None or found.findings
            if found.job is not None:
                translate(found.job, name, Settings(unstated="Ignore", files=found.files))
    except (InvalidValue, Untranslatable, UnusableInput):
        pass


SETTINGS = st.builds(
    Settings, arrays=st.sampled_from(["keep", "task-group", "jobs"]), residual=st.booleans(),
    memory_scope=st.sampled_from(["job", "task", "node"]),
)  # fmt: skip


@pytest.mark.parametrize("name", READ)
@given(which=st.integers(0, 1), edits=EDITS, settings=SETTINGS)
def test_any_bytes_are_jobs_or_findings(name, which, edits, settings):
    is_read(with_edits(sources(name)[-which], edits), name, settings)


@pytest.mark.parametrize("name", ["psij", "flux", "flux-canonical", "slurmrest"])
@given(which=st.integers(0, 1), place=st.floats(0, 1), other=JSON, settings=SETTINGS)
def test_any_value_of_json_is_a_job_or_a_finding(name, which, place, other, settings):
    whole = json.loads(sources(name)[-which])
    paths = [*nodes(whole)]
    odd = replaced(whole, paths[int(place * (len(paths) - 1))], other)
    is_read(json.dumps(odd).encode(), name, settings)


@pytest.mark.parametrize("label", [{}, [], {"a": [1]}])
def test_a_label_of_flux_that_is_no_text_is_told(label):
    text = SCRIPTS["flux"].replace(b'"label": "task"', b'"label": %s' % json.dumps(label).encode())
    (found,) = read(text, "flux")
    assert "which is not there" in found.findings[0].message
