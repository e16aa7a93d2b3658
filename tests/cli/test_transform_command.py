"""sssjob transform: sheets from the command line."""

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

OLD = "<Jobs><Job><JobId>1</JobId><UserId>a</UserId></Job><Job><JobId>2</JobId></Job></Jobs>"
NEW = "<Job><Id>1</Id><User>a</User></Job>\n<Job><Id>2</Id></Job>\n"


def transform(*arguments, document=OLD):
    return CliRunner().invoke(sssjob, ["transform", *arguments], input=document)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.xml"
    path.write_text(OLD)
    return path


@pytest.mark.parametrize("files", [(), ("-",)], ids=["no name", "a dash"])
def test_standard_input_is_transformed(files):
    result = transform("to-3.1.0", *files)
    assert (result.exit_code, result.stdout, result.stderr) == (0, NEW, "")


def test_files_are_transformed_one_after_the_other(old):
    assert transform("to-3.1.0", str(old), str(old)).stdout == NEW * 2


def test_output_goes_to_a_file_that_appears_whole(old, tmp_path):
    out = tmp_path / "new.xml"
    assert transform("to-3.1.0", str(old), "-o", str(out)).exit_code == 0
    assert out.read_text() == NEW
    assert transform("keep", str(old), "-o", str(out)).exit_code == 2
    assert out.read_text() == NEW


def test_parameters_are_given_by_name():
    result = transform("keep", "-p", "names=UserId", "-")
    assert result.stdout == "<Job><UserId>a</UserId></Job>\n<Job/>\n"


def test_the_sheets_are_listed_with_their_parameters():
    lines = transform("--list").stdout.splitlines()
    assert [line.split("  ")[0].split()[0] for line in lines] == [
        "job-html", "keep", "to-3.1.0", "usage-record",
    ]  # fmt: skip
    assert "keep names " in lines[1]
    assert "streamed" not in lines[3]


def test_help_names_the_sheets():
    help_text = transform("--help").stdout
    for name in ("to-3.1.0", "keep", "job-html", "usage-record"):
        assert name in help_text


def test_messages_of_a_sheet_go_to_standard_error(tmp_path):
    sheet = tmp_path / "says.xsl"
    sheet.write_text(
        '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'
        '<xsl:template match="/"><xsl:message>heard</xsl:message></xsl:template></xsl:stylesheet>'
    )
    result = transform(str(sheet), "-")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "heard\n")


REFUSED = [
    pytest.param(("kep",), OLD, "kep: neither a sheet of sssjob nor a file; did you mean keep?",
                 id="an unknown sheet"),
    pytest.param(("keep", "-p", "names"), OLD, "-p names: expected NAME=VALUE", id="no value"),
    pytest.param(("keep", "-p", "name=x"), OLD, "keep: there is no parameter name", id="a name"),
    pytest.param(("keep",), OLD, "keep: give the properties to keep", id="no names"),
    pytest.param(("keep", "no.xml"), OLD, "no.xml: No such file or directory", id="no file"),
    pytest.param(("to-3.1.0", "-"), "<Job>", "<stdin>:1:", id="no XML"),
    pytest.param(("to-3.1.0", "-"), '<!DOCTYPE Job [<!ENTITY a "b">]><Job>&a;</Job>', "<stdin>:1",
                 id="a document type"),
]  # fmt: skip


@pytest.mark.parametrize("arguments, document, message", REFUSED)
def test_what_is_not_understood_is_said_in_one_line(arguments, document, message):
    result = transform(*arguments, document=document)
    assert result.exit_code == 2
    assert result.stderr.removeprefix("sssjob: error: ").startswith(message)
    assert result.stderr.count("\n") == 1


def test_without_a_sheet_it_says_what_is_missing():
    result = transform()
    assert result.exit_code == 2
    assert "Missing argument 'SHEET'" in result.stderr
