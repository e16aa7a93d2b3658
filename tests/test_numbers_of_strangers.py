"""Digits and exponents that no number of Python can have: each command goes on and says so.

``int()`` reads at most 4300 digits and ``Decimal()`` no exponent of 20; a ``Fraction`` of an
exponent of 9 takes all memory.
"""

import ast
from decimal import Decimal

import pytest
import read_numbers
from click.testing import CliRunner

from sssjob import query, store
from sssjob.cli import sssjob
from sssjob.errors import InvalidValue
from sssjob.json_text import why
from sssjob.lcginfo import config
from sssjob.lcginfo.config import BadConfig
from sssjob.settings import BadToml, toml
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
    ("condor check", "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=1\nMACHINE_RESOURCE_t = 1e400\n",
     "a number of them, or the id of each, is expected: 1e400"),
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


# What no function of this kind measures, and why nothing there is too long for Python.
BOUND = {
    "a regular expression of the caller has bound it, or its length": {
        "expression/pattern/perl.py:_bounds",
        "formats/usage_values.py:processors_of", "outputs.py:_descriptor",
        "records/readers.py:_whole_kilobytes", "systems/condor/submission.py:_bytes",
        "systems/lsf/accounting/table.py:is_done", "systems/pbs/accounting/table.py:_sixtieth",
        "systems/slurm/accounting/json_table.py:_days",
        "systems/slurm/accounting/json_table.py:_hours",
        "systems/slurm/submission.py:_thousands", "translate/quoting.py:_meant",
    },
    "we wrote it, into a store, a ledger, a note or a path": {
        "contradicting_counts.py:of_groups", "gateway/forwarding.py:_document",
        "handlers/changes.py:_waited", "handlers/charging.py:_told", "ledger/rollup.py:_day",
        "ledger/rollup.py:_of_text", "measures.py:usage_of", "store/former_notes.py:to_ledger",
        "store/ledger.py:entered", "store/sqlite.py:add_new", "store/used.py:_totals",
        "systems/condor/hooks/documents.py:_identity", "systems/condor/hooks/stamp.py:note",
        "systems/condor/job_ad.py:delivered",
    },
    "its only caller catches the error": {"lcginfo/basic.py:_whole"},
    "a number was made a text just before": {
        "cli/audit.py:command", "expression/columns.py:_reaches", "query/match.py:number",
        "web/pages.py:_array",
    },
    "it is a number, whatever else has its name": {
        "features/batch/agent.py:_user", "records/regular.py:_stretches",
    },
    "the kernel wrote it, or a program of ours beside": {
        "cli/features/payload.py:_ask", "systems/condor/hooks/starter.py:_cpu",
        "systems/condor/hooks/starter.py:_resident", "workers.py:_bound_memory",
    },
}  # fmt: skip

# Groups of any number of digits, of which nobody makes a number without a look at how many.
TEXTS = {
    "query/xpath2/parser.py": "the place of an argument, which stays a text",
    "systems/condor/accounting/ads.py": "an id",
    "systems/condor/configured.py": "read by whole(), or its first nine",
    "systems/condor/dag.py": "a code, which stays a text",
    "systems/gridengine/queue.py": "its first nine, and an id",
    "systems/lsf/words.py": "an id and a code, which stay texts",
    "systems/slurm/queue.py": "an id",
    "systems/slurm/scontrol.py": "a user, who stays a text",
    "systems/slurm/status/text.py": "a count, which is measured before it is multiplied",
    "translate/limits.py": "compared with another text",
}


def test_a_text_is_measured_before_it_is_made_a_number():
    assert read_numbers.found() == set().union(*BOUND.values())


def test_a_group_of_digits_that_is_made_a_number_says_how_many():
    assert {each.partition(":")[0] for each in read_numbers.unbounded()} == TEXTS.keys()


@pytest.mark.parametrize(("code", "is_found"), [
    ("def f(text: str):\n    return int(text)", True),
    ("def f(text: str):\n    return int(text) if len(text) < 9 else 0", False),
    ("def f(line: str):\n    return [*map(int, line.split())]", True),
    ("def f(line: str):\n    name, _, rest = line.partition('=')\n    return Decimal(rest)", True),
    ("def f(line: str):\n    try:\n        return int(line)\n    except ValueError:\n"
     "        return 0", False),
    ("def f(line: str):\n    try:\n        return Fraction(line)\n    except ValueError:\n"
     "        return 0", True),
    ("def f(given: dict[str, str]):\n    return float(given.get('a') or 0)", True),
    ("def f(row: str):\n    if found := _ONE.fullmatch(row):\n        return int(found[1])",
     False),
    ("def f(number: Fraction):\n    return int(number)", False),
])  # fmt: skip
def test_the_look_at_the_sources_sees_texts(code, is_found):
    function = ast.parse(code).body[0]
    assert is_found == any(
        not read_numbers.is_measured(part, code) for part in read_numbers.texts_in(function)
    )


@pytest.mark.parametrize(("pattern", "is_found"), [
    (r"([0-9]+)", True), (r"a(?P<n>x[0-9]*)", True), (r"(\d{1,})", True), (r"([0-9]{1,9})", False),
    (r"[0-9]+", False), (r"\([0-9]+\)", False), (r"(?:[0-9]+)", False),
])  # fmt: skip
def test_the_look_at_regular_expressions_sees_groups(pattern, is_found):
    assert is_found == bool(read_numbers.GROUP.search(pattern))


@pytest.mark.parametrize("text", [
    "from = 1e-9999999999999999999-01-01", "a = [ # one\n 1e9999999999999999999]",
    f"a = {LONG}", f"a = [ # one\n {LONG}]", "a = {b = 1E+9_999_999_999_999_999_999 }",
])  # fmt: skip
def test_a_number_of_settings_is_measured_whatever_stands_around_it(text):
    with pytest.raises(BadToml, match="a number of more than 1000 digits"):
        toml(text, Decimal)


@pytest.mark.parametrize(("name", "text"), [
    ("sample_number", LONG), ("sample_number", "x"), ("sample_number", "0"), ("sample_number", "²"),
    ("command_output", LONG),
])  # fmt: skip
def test_a_count_in_a_configuration_is_a_number_in_our_words(name, text):
    with pytest.raises(BadConfig, match="is not a whole number above 0"):
        config.parse(f"[Main]\n{name}: {text}\n")
