"""The highest whole number of 64 bits has one name, and of strangers' digits it is known how many."""
# ruff: noqa: E501 (a row of a table is a line)

import ast
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import sssjob
from sssjob import cli
from sssjob.integers import LARGEST, SMALLEST, whole

ROOM = Path(sssjob.__file__).parent
WRITTEN_OUT = re.compile(r"(2\*\*63|\(1 << 63\)) - 1|9_?223_?372_?036_?854_?775_?807")
MASK = "store/columns.py"  # every bit of a mask


def test_a_number_of_64_bits_has_a_sign():
    assert (LARGEST.bit_length(), SMALLEST) == (63, -LARGEST - 1)


def test_nobody_writes_it_out():
    found = {
        path.relative_to(ROOM).as_posix()
        for path in ROOM.rglob("*.py")
        if WRITTEN_OUT.search(path.read_text("utf-8"))
    }
    assert found == {"integers.py", MASK}


@given(st.text(max_size=3) | st.from_regex(r"[0-9]{1,30}", fullmatch=True))
@example("²")
@example("٣")
@example("9" * 5000)
def test_a_whole_number_is_digits_that_every_reader_has(text):
    assert whole(text) == (int(text) if re.fullmatch("[0-9]{1,18}", text) else None)
    assert whole(text, 4) == (int(text) if re.fullmatch("[0-9]{1,4}", text) else None)


# A text that a regular expression has cut, or of bounded length.
READ_OTHERWISE = {
    "systems/condor/hooks/spool.py", "systems/pbs/words.py", "systems/slurm/words.py",
}  # fmt: skip


def test_nobody_reads_a_number_by_what_is_true_of_other_signs_too():
    """``"²".isdigit()`` is true, and ``int("²")`` fails; so does a text of 5000 digits."""
    found = {
        path.relative_to(ROOM).as_posix()
        for path in ROOM.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\bint\(", line) and re.search(r"\.isd(igit|ecimal)\(", line)
        and not ("len(" in line and "isascii" in line)
    }  # fmt: skip
    assert found == READ_OTHERWISE


# Of one digit, of a match of bounded length, or of what we wrote ourselves.
OTHER_FUNCTIONS = {
    "classads/tokens.py": "_escaped", "cli/features/payload.py": "_ask",
    "features/update.py": "_moment", "gateway/forwarding.py": "_document",
    "systems/pbs/words.py": "size", "systems/slurm/notices.py": "read",
}  # fmt: skip


def reads_digits(code):
    return re.search(r"\bint\(", code) and re.search(r"\.isd(igit|ecimal)\(", code)


def test_a_function_that_reads_digits_looks_how_many_there_are():
    found = {}
    for path in ROOM.rglob("*.py"):
        text = path.read_text("utf-8")
        for part in ast.walk(ast.parse(text)) if reads_digits(text) else ():
            if isinstance(part, ast.FunctionDef):
                code = ast.get_source_segment(text, part)
                if reads_digits(code) and "len(" not in code:
                    found[path.relative_to(ROOM).as_posix()] = part.name
    assert found == OTHER_FUNCTIONS


MANY = "9" * 5000
END = "|amy|941|470|19|1700003012|1700003953|54614|99596|1|"
JOB = "<Jobs><Job><Id>a</Id></Job><Job><Id>7</Id>{}</Job></Jobs>"
NAMES = ("Memory", "Processors", "Duration", "Priority", "Charge", "StartTime", "NodeCount")
BELOW = (
    "1e-9999999999999999999",
    "-5E-1000000000000000000",
    "0e-9999999999999999999",
    f"1e-{MANY}",
)
TOLD = {
    "condor check": (("condor", "check", "-"), f"SLOT_TYPE_{MANY} = cpus=1\n"),
    "condor check of ids": (("condor", "check", "-"), f"CONDOR_IDS = {MANY}.{MANY}\n"),
    "records of SWF": (("convert", "--from", "swf", "-"), f"; UnixStartTime: {MANY}\n{' '.join('1' * 18)}\n"),
    "a report of SWF": (("report", "--from", "swf", "-"), f"; UnixStartTime: {MANY}\n{' '.join('1' * 18)}\n"),
    "records of HTCondor": (("convert", "--from", "condor", "-"), f"s#1.0#{MANY}{END}\ns#2.0#1700000004{END}\n"),
    "a code for LSF": (("translate", "--to", "lsf", "-"), JOB.format(f"<Executable>/a</Executable><Dependency condition='OnExit' code='{MANY}'>3</Dependency>")),
    "a code from LSF": (("translate", "--from", "lsf", "--to", "lsf", "-"), f'#BSUB -w "exit(7,=={MANY})"\n/bin/true\n'),
    "cron of a slot": (("condor", "cron", "--set", f"{MANY}:hs06=5"), ""),
    "a start of features": (("features", "derive", "--start", MANY, "-"), "<Job><Id>1</Id></Job>"),
}  # fmt: skip


@pytest.mark.parametrize("words, text", TOLD.values(), ids=TOLD)
def test_a_number_of_5000_digits_ends_no_command_in_another_error(words, text):
    found = CliRunner().invoke(cli.sssjob, words, input=text)
    assert isinstance(found.exception, SystemExit | None), found.exception
    assert found.stdout or found.stderr


@pytest.mark.parametrize("text", BELOW)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("around", ["", "Requested", "Delivered"])
def test_a_store_keeps_a_number_below_all_others(tmp_path, around, name, text):
    inner = f"<{name}>{text}</{name}>"
    data = JOB.format(f"<{around}>{inner}</{around}>" if around else inner)
    place = str(tmp_path / "s.db")
    found = CliRunner().invoke(cli.sssjob, ("store", "import", place, "-"), input=data)
    assert found.exit_code == 0, found.stderr
    assert "new 2," in found.stderr
    query = f"//Job[.//{name} = '{text}']/Id"
    asked = CliRunner().invoke(cli.sssjob, ("query", query, place))
    assert asked.stdout == "7\n"
