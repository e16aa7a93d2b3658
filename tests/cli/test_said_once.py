"""Of what is said once, a command says at its end of how many more records it is so.

``--all-findings`` prints other messages each, and these with their number all the same.
"""

import pytest
from click.testing import CliRunner

from sssjob.cli import records, sssjob
from sssjob.cli.common import MOST
from sssjob.records.record import Noted

HEADER = "JobID|State|ElapsedRaw|NCPUS|ReqNodes\n"
ODD = "'abc' is not a size such as 438.50M: ReqNodes; kept as an Extension"
COMMANDS = {
    "convert": "convert @",
    "workers": "convert --workers 2 @",
    "jsonl": "convert --to jsonl @",
    "report": "report @",
    "validate": "validate @",
    "validate for programs": "validate --json @",
    "query": "query //Id @",
    "store import": "store import STORE @",
    "ledger ingest": "ledger ingest LEDGER @",
}


def table(*odd):
    return HEADER + "".join(f"{at}|COMPLETED|60|8|{text}\n" for at, text in enumerate(odd, 1))


def said(words, place, **files):
    named = {"STORE": place / "store", "LEDGER": place / "ledger"}
    for name, text in files.items():
        (place / name).write_text(text)
    told = [str(place / name) for name in files]
    given = [each for word in words.split()
             for each in (told if word == "@" else [str(named.get(word, word))])]  # fmt: skip
    result = CliRunner().invoke(sssjob, given, env={"COLUMNS": ""})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return [line.removeprefix(f"{place}/") for line in result.stderr.splitlines() if "warn" in line]


@pytest.mark.parametrize("more", ["", " --all-findings"])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_of_many_records_is_said_once_and_then_of_how_many(name, more, tmp_path):
    found = said(COMMANDS[name] + more, tmp_path, log=table("3", *["abc"] * 30, "3"))
    assert found == [f"log:3: warning: {ODD}", f"log:3: warning: and 29 more records: {ODD}"]


def test_nothing_is_said_of_no_more_records_and_one_is_one(tmp_path):
    assert said("convert @", tmp_path, log=table("abc", "3")) == [f"log:2: warning: {ODD}"]
    _, last = said("convert @", tmp_path, log=table("abc", "abc"))
    assert last == f"log:2: warning: and 1 more record: {ODD}"


def test_records_of_all_files_are_counted(tmp_path):
    found = said("convert @", tmp_path, one=table("abc"), two=table("abc", "abc"))
    assert found == [f"one:2: warning: {ODD}", f"one:2: warning: and 2 more records: {ODD}"]


@pytest.mark.parametrize("each", [1, 3])
def test_each_record_is_counted_where_not_every_message_is_printed(each, tmp_path):
    odd = [f"{letter}{other}" for letter in "abcdef" for other in "abcdef"]
    found = said("convert @", tmp_path, log=table(*(text for text in odd for _ in range(each))))
    counted = [line for line in found if " more " in line]
    numbers = [int(line.split("and ")[1].split()[0]) for line in counted]
    assert len(found) - len(counted) + sum(numbers) == each * len(odd)
    assert len(found) <= 2 * MOST + 1


def test_a_zone_that_is_assumed_is_of_no_number_of_records(tmp_path):
    head = "JobID|State|Start|End|NCPUS\n"
    row = "{}|COMPLETED|2026-11-20T10:00:00|2026-11-20T11:00:00|1\n"
    text = head + "".join(map(row.format, range(60)))
    (told,) = said("convert --workers 2 @", tmp_path, log=text)
    assert "UTC" in told


def test_what_is_remembered_does_not_grow_with_the_records():
    told = records.RecordMessages()
    most = records._ONCE
    for at in range(most + 100):
        told("log", Noted(at, f"{at} is odd", once=True))
    assert len(told._told) <= most
