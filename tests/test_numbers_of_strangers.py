"""Digits and exponents that no number of Python can have: each command goes on and says so.

``int()`` reads at most 4300 digits and ``Decimal()`` no exponent of 20; a ``Fraction`` of an
exponent of 9 takes all memory.
"""

import pytest
from click.testing import CliRunner

from sssjob import query, store
from sssjob.cli import sssjob
from sssjob.errors import InvalidValue
from sssjob.json_text import why
from sssjob.store.incoming import starts_untold
from sssjob.systems.slurm import caps

LONG = "9" * 5000
EXPONENTS = ["1e-9999999999999999999", "1e9999999999999999999", "-1e-999999999", "0e999999999"]
NAMES = ["Memory", "Processors", "Duration", "Priority", "Charge", "StartTime", "NodeCount"]
AD = "s#{0}|amy|941|470|19|{1}|1700003953|54614|99596|1|\n"
JSDL = (
    "<JobDefinition xmlns='http://schemas.ggf.org/jsdl/2005/11/jsdl'><JobDescription><Resources>"
    "<TotalCPUCount><Exact>{}</Exact></TotalCPUCount></Resources></JobDescription></JobDefinition>"
)
# fmt: off
SAID = [
    ("condor check", f"SLOT_TYPE_{LONG} = cpus=1\n", "POLLING_INTERVAL"),
    ("convert --from swf", f"; UnixStartTime: {LONG}\n{'1 ' * 18}\n", "no UnixStartTime"),
    ("convert --from condor", AD.format(f"1.0#{LONG}", 17) + AD.format("2.0#17", 18), "QDate"),
    ("report --from condor", AD.format(f"1.0#{LONG}", 17) + AD.format("2.0#17", 18), "QDate"),
    ("convert --from condor", AD.format("1.0#17", LONG) + AD.format("2.0#17", 18),
     "is not a number: JobStartDate"),
    ("translate --to lsf",
     f"<Job><Id>7</Id><Executable>a</Executable><Dependency condition='OnExit' code='{LONG}'>3"
     "</Dependency></Job>", "nothing waits for OnExit with the code 999"),
    ("translate --to lsf",
     "<Job><Id>7</Id><Executable>a</Executable><Dependency condition='OnExit' code='²'>3"
     "</Dependency></Job>", "nothing waits for OnExit with the code ²"),
    ("translate --to pbs",
     f"<Job><Id>7</Id><Executable>a</Executable><EligibleTime>{LONG[:3900]}</EligibleTime></Job>",
     "no calendar has that time"),
    ("translate --from lsf --to lsf", f'#BSUB -w "exit(7,=={LONG})"\necho\n', "with the code 999"),
    ("translate --from sbatch --to sss", f"#SBATCH -J x\nulimit -S -c {LONG}\necho\n", "ulimit"),
    ("translate --from sbatch --to sss", f"#SBATCH -o a%{LONG}a\necho\n", "--output a%999"),
    ("translate --from sbatch --to sss",
     f"#SBATCH -J x\nset -- 'a'; exec \"${{{LONG}%_}}\"\n", "exec"),
    ("translate --from jsdl --to sss", JSDL.format("1e999999999"), "is not a number in Exact"),
    ("translate --from jsdl --to sss", JSDL.format(LONG), "is not a number in Exact"),
    ("translate --from psij --to sss", f'{{"executable": "a", "n": {LONG}}}',
     "a whole number of more than 4300 digits"),
    ("translate --from slurmrest --to sss", f'{{"job": {{"n": {LONG}}}}}',
     "a whole number of more than 4300 digits"),
    ("convert --from slurm-json", f'{{"jobs": [{{"job_id": {LONG}}}]}}',
     "a whole number of more than 4300 digits"),
]
# fmt: on


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(words, text):
        (tmp_path / "given").write_text(text)
        done = CliRunner().invoke(sssjob, [*words.split(), "given"])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return invoke


@pytest.mark.parametrize("number", EXPONENTS)
@pytest.mark.parametrize("block", ["{}", "<Delivered>{}</Delivered>", "<Requested>{}</Requested>"])
def test_a_store_takes_a_number_of_any_exponent_and_what_stands_beside_it(run, block, number):
    jobs = "".join(
        f"<Job><Id>{name}</Id>{block.format(f'<{name}>{number}</{name}>')}</Job>" for name in NAMES
    )
    done = run("store import jobs.db", f"<Jobs><Job><Id>first</Id></Job>{jobs}</Jobs>")
    assert f"new {len(NAMES) + 1}, " in done.output
    with store.open("jobs.db") as kept:
        assert kept.documents


@pytest.mark.parametrize(("words", "text", "said"), SAID)
def test_a_command_says_what_it_does_not_read_and_goes_on(run, words, text, said):
    done = run(words, text)
    assert said in done.output
    assert "set_int_max_str_digits" not in done.output


@pytest.mark.parametrize("start", [LONG, "²", "", "1e9", "-1"])
def test_a_start_that_is_no_time_is_none_of_an_untold_run(start):
    assert [*starts_untold(["7.0", "8.0"], ["", ""], [start, "17"], ["", ""])] == [17]


def test_what_slurm_prints_of_so_many_digits_limits_nobody():
    assert caps.read(f"Account|GrpJobs\na|{LONG}\nb|5\n") == {"b": 5}


def test_versions_of_xpath_are_asked_for_by_their_names():
    with pytest.raises(InvalidValue, match=r"'x' is not a version of XPath: expected 1\.0, "):
        query.compile("//Job", version="x")


def test_why_a_text_is_no_json_is_said_in_words_of_json():
    assert why(RecursionError("maximum recursion depth exceeded")) == "nested too deep"
    assert why(ValueError("a stands twice in one object")) == "a stands twice in one object"
