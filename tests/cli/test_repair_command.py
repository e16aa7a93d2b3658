"""sssjob repair: the repaired document on standard output, each change on standard error."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

RAW = Path(__file__).parents[1] / "data" / "raw"
BROKEN = "<Job>\n <Id>1<Id>\n <Memory units=”GB”>2</Memory>\n</Job>\n"
RIGHT = '<Job>\n <Id>1</Id>\n <Memory units="GB">2</Memory>\n</Job>\n'
TWO_WAYS = "<Job><Memory>1<Memory>2</Job>"


def repair(*arguments, document=BROKEN):
    return CliRunner().invoke(sssjob, ["repair", *arguments], input=document)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "job.xml"
    path.write_text(BROKEN)
    return path


def test_the_document_is_printed_and_each_change_told():
    result = repair()
    assert result.exit_code == 0
    assert result.stdout == RIGHT
    assert result.stderr.splitlines() == [
        "<stdin>:2:7: repaired: start tag where an end tag was meant: <Id> becomes </Id>",
        '<stdin>:3:16: repaired: typographic quote in a tag: ” becomes "',
        '<stdin>:3:19: repaired: typographic quote in a tag: ” becomes "',
    ]


def test_a_document_that_can_be_read_is_printed_as_it_is():
    result = repair(document=RIGHT)
    assert (result.exit_code, result.stdout, result.stderr) == (0, RIGHT, "")


def test_two_ways_to_repair_are_both_shown_and_none_is_taken(file):
    file.write_text(TWO_WAYS)
    result = repair("--in-place", str(file))
    assert result.exit_code == 2
    assert file.read_text() == TWO_WAYS
    assert "write </Memory> instead, or write </Memory> before it" in result.stderr
    # At the place that every command tells: where it is noticed.
    assert f"  <Job><Memory>1<Memory>2</Job>\n{' ' * 25}^\n" in result.stderr
    assert result.stderr.endswith("nothing changed: not all of this can be repaired for sure\n")


def test_a_file_is_changed_in_place_or_another_one_written(file, tmp_path):
    other = tmp_path / "other.xml"
    assert repair(str(file), "-o", str(other)).exit_code == 0
    assert (file.read_text(), other.read_text()) == (BROKEN, RIGHT)
    assert repair(str(file), "--in-place").exit_code == 0
    assert file.read_text() == RIGHT


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
def test_nothing_is_written_where_changes_are_only_shown(option, file):
    result = repair(option, "--in-place", str(file))
    assert result.exit_code == 0
    assert "repaired" in result.stderr
    assert file.read_text() == BROKEN
    assert '<Memory units="GB">' not in result.stdout or option == "--diff"


@pytest.mark.parametrize("before", ["", "\n\n"])
def test_the_difference_is_a_patch(before, file, tmp_path):
    broken = f'{before}<?xml version="1.0"?>\n{BROKEN}'
    file.write_text(broken)
    patch = repair("--diff", str(file)).stdout
    subprocess.run(
        ["patch", "--quiet", str(file)], input=patch.encode(), check=True, cwd=tmp_path
    )  # fmt: skip
    assert file.read_text() == f'<?xml version="1.0"?>\n{RIGHT}'


def test_json_holds_changes_and_document_or_the_reasons():
    done = json.loads(repair("--json").stdout)
    assert done["document"] == RIGHT
    assert done["changes"][0] == {
        "rule": "b", "what": "start tag where an end tag was meant", "line": 2, "column": 7,
        "before": "<Id>", "after": "</Id>",
    }  # fmt: skip
    result = repair("--json", document=TWO_WAYS)
    assert result.exit_code == 2
    refused = json.loads(result.stdout)
    assert (refused["repaired"], refused["changes"]) == (False, [])
    assert [found["code"] for found in refused["findings"]] == ["E-XML"]


def test_groups_are_turned_for_who_asks():
    printed = (RAW / "1.3-elaborate-example.xml").read_text()
    assert CliRunner().invoke(
        sssjob, ["validate", "-"], input=repair(document=printed).stdout
    ).exit_code == 1  # fmt: skip
    turned = repair("--groups", "--all-findings", document=printed)
    assert "77:28: repaired: group with its sign turned: -1 becomes 1" in turned.stderr
    assert CliRunner().invoke(sssjob, ["validate", "-"], input=turned.stdout).exit_code == 0


def test_a_compressed_file_is_read_and_not_written_over(tmp_path):
    path = tmp_path / "job.xml.gz"
    path.write_bytes(gzip.compress(BROKEN.encode()))
    assert repair(str(path)).stdout == RIGHT
    result = repair("--in-place", str(path))
    assert (result.exit_code, "is compressed" in result.stderr) == (2, True)


def test_what_cannot_be_opened_ends_with_2(tmp_path):
    assert repair(str(tmp_path / "none")).exit_code == 2
    assert repair("--in-place").exit_code == 2
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"<Job/>" * 999)[:30])
    assert repair(str(cut)).exit_code == 2


def test_validation_tells_every_cause_with_its_line():
    result = CliRunner().invoke(sssjob, ["validate", "-"], input=BROKEN)
    assert result.exit_code == 2
    assert "<stdin>:2:7: error: <Id> reopened right after its text at /Job/Id" in result.stderr
    assert "   <Memory units=”GB”>2</Memory>\n                 ^\n" in result.stderr
    assert result.stderr.endswith("2 errors\n")


def test_validation_of_lines_tells_the_causes_of_each_line():
    lines = (
        "<Job><Id>1</Id><Duration>1</Duration></Job>\n" * 2
        + "<Job><Id>2<Id></Job>\n<Job>x</Job>\n<Job"
    )
    result = CliRunner().invoke(sssjob, ["validate", "--json", "-"], input=lines)
    found = [
        (each["line"], each["column"])
        for each in json.loads(result.stdout)
        if each["code"] == "E-XML"
    ]
    assert found == [(3, 15), (5, 5)]  # where every command tells them, decision 680
