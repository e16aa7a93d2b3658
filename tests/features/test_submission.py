import shlex

import pytest

from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.errors import InvalidValue
from sssjob.features.batch.submission import submission, submitted_id

RANGES = """<Job><Id>1</Id><Name>scan</Name><Executable>/bin/echo</Executable>
  <Arguments>'two words' $HOME</Arguments><OutputFile>/tmp/o</OutputFile><Queue>main</Queue>
  <Requested><Processors op="GE">2</Processors><Processors op="LE">4</Processors>
  <Memory op="LE" units="MB">300</Memory><Duration op="LE">330</Duration></Requested></Job>"""
GROUPS = """<Job><Id>1</Id><Executable>/bin/true</Executable>
  <TaskGroup><TaskCount>2</TaskCount><Requested><Memory units="MB">100</Memory></Requested>
  </TaskGroup>
  <TaskGroup><TaskCount>1</TaskCount><Requested><Processors>4</Processors>
    <Memory units="MB">50</Memory></Requested></TaskGroup></Job>"""


def words(document, system, **options):
    job = resolve(loads(document)).block
    return shlex.join(submission(job, system, **options).command)


# fmt: off
CASES = [
    (RANGES, "slurm", "sbatch --parsable --hold --ntasks=1 --cpus-per-task=2 --mem=300M --time=6 "
                      "--job-name=scan --partition=main --output=/tmp/o"),
    (RANGES, "gridengine", "qsub -terse -h -S /bin/sh -pe smp 2 -l h_rt=330,h_vmem=157286400 "
                           "-N scan -q main -o /tmp/o -j y"),
    (RANGES, "pbs", "qsub -h -l nodes=1:ppn=2,mem=314572800b,walltime=00:05:30 "
                    "-N scan -q main -o /tmp/o -j oe"),
    (GROUPS, "slurm", "sbatch --parsable --hold --ntasks=3 --cpus-per-task=2 --mem=250M "
                      "--job-name=true"),
    (GROUPS, "gridengine", "qsub -terse -h -S /bin/sh -pe smp 6 -l h_vmem=43690667 -N true"),
]
# fmt: on


@pytest.mark.parametrize(("document", "system", "command"), CASES)
def test_a_job_object_asks_a_batch_system_in_its_own_words(document, system, command):
    assert words(document, system) == command


def test_memory_and_scratch_space_are_asked_for_by_the_node():
    document = GROUPS.replace("<Executable>", "<NodeCount>2</NodeCount><Executable>")
    assert "--nodes=2 --mem=125M" in words(document, "slurm")


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
