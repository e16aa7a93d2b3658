import gzip
import io
import json

import pytest
from click.testing import CliRunner

from sssjob.cli import progress, query_messages, sssjob

UNITS = "/Jobs/Job/Processors/@units"
ONE = "<Job><Id>1</Id><Processors>16</Processors></Job>"
TWO = '<Jobs>\n<Job><Id>2</Id><Processors units="x">4</Processors></Job>\n</Jobs>'


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.xml").write_text(ONE)
    (tmp_path / "two.xml").write_text(TWO)

    def run(*arguments, stdin=None):
        result = CliRunner().invoke(sssjob, ["query", *arguments], input=stdin)
        return result.exit_code, result.stdout, result.stderr

    return run


def test_text_is_one_line_a_match(run):
    assert run("//Job[Processors > 12]/Id", "one.xml") == (0, "1\n", "")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("one.xml //Job/Id", "//Job/Id one.xml"),
        ("one.xml //Job/Id two.xml", "//Job/Id one.xml two.xml"),
        ("one.xml two.xml", "EXPRESSION one.xml two.xml"),
        ("one.xml", "EXPRESSION one.xml"),
        ("Job //Id", "//Id Job"),
        ("archive //Job", "//Job archive"),
        ("sqlite:jobs.db //Job", "//Job sqlite:jobs.db"),
    ],
)
def test_a_file_in_the_place_of_the_expression_is_told(run, tmp_path, words, meant):
    (tmp_path / "Job").write_text(ONE)
    (tmp_path / "archive").mkdir()
    code, out, err = run(*words.split(), stdin=ONE)
    assert (code, out) == (2, "")
    assert err == (
        f"sssjob: error: {words.split()[0]} is a file or store, and the XPath stands before these:"
        f" sssjob query {meant}\n"
    )


def test_a_path_of_the_document_is_no_file_whatever_the_root_directory_has(tmp_path):
    (tmp_path / "x").touch()
    (tmp_path / "a.xml").write_text("<Job><Id>1</Id></Job>")
    done = CliRunner().invoke(sssjob, ["query", f"/{tmp_path}/x", str(tmp_path / "a.xml")])
    assert (done.exit_code, done.stdout, "is a file" in done.stderr) == (1, "", False)


@pytest.mark.parametrize(
    ("files", "out"),
    [
        ("a.pdf", ""),
        ("none.xml", ""),
        ("a.pdf none.xml", ""),
        ("empty.db", ""),
        ("one.xml a.pdf", "0\n"),
        ("a.pdf one.xml none.xml", "0\n"),
    ],
)
@pytest.mark.parametrize("workers", "12")
def test_nothing_is_counted_where_nothing_could_be_read(run, tmp_path, files, out, workers):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n")
    (tmp_path / "empty.db").write_bytes(b"SQLite format 3\0 and no more")
    words = ("--count", "--workers", workers, "//Job/Queue")
    assert run(*words, *files.split())[:2] == (2, out)
    assert run("--count", "//Job", "one.xml", "a.pdf")[:2] == (2, "1\n")


@pytest.mark.parametrize("words", ["Job one.xml", "Id", ". one.xml", "/ one.xml", "a/b one.xml"])
def test_an_element_may_have_the_name_of_a_file(run, tmp_path, words):
    (tmp_path / "Job").write_text(ONE)
    (tmp_path / "Id").write_text(ONE)
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert "stands before" not in run(*words.split(), stdin=ONE)[2]


def test_several_files_are_named_before_each_match(run):
    assert run("//Job/Id", "one.xml", "two.xml") == (0, "one.xml:1\ntwo.xml:2\n", "")
    assert run("--no-filename", "Id", "one.xml", "two.xml") == (0, "1\n2\n", "")


def test_a_directory_is_read_and_what_is_skipped_is_said(run, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.sss.gz").write_bytes(gzip.compress(ONE.encode()))
    for number in range(6):
        (tmp_path / "more" / f"{number}.txt").touch()
    code, out, err = run("//Job/Id", "more")
    assert (code, out) == (0, "more/b.sss.gz:1\n")
    assert err == (
        "more: notice: not read, since neither documents nor records: "
        "0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 1 more\n"
    )


@pytest.mark.parametrize("files", [(), ("-",)])
@pytest.mark.parametrize(
    "data", [ONE.encode(), gzip.compress(ONE.encode())], ids=("plain", "packed")
)
def test_standard_input_is_read(run, files, data):
    code, out, _ = run("--json", "//Job/Id", *files, stdin=data)
    assert code == 0
    assert [row["file"] for row in json.loads(out)] == ["<stdin>"]


def test_json_is_an_array_with_places(run):
    code, out, _ = run("--json", "//Job/Processors/@units | //Job/Id", "one.xml", "two.xml")
    assert code == 0
    assert json.loads(out) == [
        {"file": "one.xml", "line": 1, "job": "1", "path": "/Job/Id", "value": "1"},
        {"file": "two.xml", "line": 2, "job": "2", "path": "/Jobs/Job/Id", "value": "2"},
        {"file": "two.xml", "line": 2, "job": "2", "path": UNITS, "value": "x"},
    ]  # fmt: skip


def test_json_is_whole_when_a_file_breaks_off(run, tmp_path):
    (tmp_path / "bad.xml").write_text(f"<Jobs>{ONE}<Job>")
    code, out, err = run("--json", "//Job/Id", "bad.xml", "one.xml")
    assert code == 2
    assert [row["value"] for row in json.loads(out)] == ["1", "1"]
    assert err.startswith("bad.xml:1:")


def test_an_attribute_as_xml_has_its_name(run):
    assert run("--xml", UNITS, "two.xml") == (0, 'units="x"\n', "")


def test_xml_is_one_line_a_match(run):
    assert run("--xml", "//Job", "one.xml") == (0, ONE + "\n", "")


@pytest.mark.parametrize(
    "arguments, expected",
    [
        pytest.param(("//Job/Queue",), (1, ""), id="nothing"),
        pytest.param(("--json", "//Job/Queue"), (1, "[]\n"), id="nothing as JSON"),
        pytest.param(("--count", "//Job/Queue"), (1, "0\n"), id="count of nothing"),
        pytest.param(("--count", "//Job"), (0, "2\n"), id="count"),
        pytest.param(("--count", "Processors > 12"), (0, "1\n"), id="count of what is true"),
        pytest.param(("--quiet", "//Job"), (0, ""), id="quiet"),
        pytest.param(("--quiet", "//Job/Queue"), (1, ""), id="quiet nothing"),
        pytest.param(("Processors > 99", "--no-filename"), (1, "false\nfalse\n"), id="false"),
        pytest.param(("count(//Queue)", "--no-filename"), (1, "0\n0\n"), id="zero"),
        pytest.param(("--limit", "1", "//Job/Id"), (0, "one.xml:1\n"), id="limit"),
        pytest.param(("--limit", "1", "--count", "//Job"), (0, "1\n"), id="limited count"),
    ],
)
def test_the_exit_code_says_whether_something_was_found(run, arguments, expected):
    code, out, _ = run(*arguments, "one.xml", "two.xml")
    assert (code, out) == expected


def test_a_broken_expression_is_shown_with_a_caret(run):
    assert run("//Job[State='Idle'", "one.xml") == (
        2,
        "",
        "sssjob: error: unexpected end of source; expected an operator or ]\n"
        "    //Job[State='Idle'\n"
        "                      ^\n",
    )


def test_prefixes_are_bound(run, tmp_path):
    (tmp_path / "x.xml").write_text('<Job xmlns:a="urn:x"><Id>1</Id><a:Mood>ok</a:Mood></Job>')
    assert run("--ns", "b=urn:x", "//Job/b:Mood", "x.xml") == (0, "ok\n", "")
    assert run("//Job/b:Mood", "x.xml")[0] == 2
    assert run("--ns", "urn:x", "//Job", "x.xml")[::2] == (
        2, "sssjob: error: --ns urn:x: expected PREFIX=URI\n",
    )  # fmt: skip


def test_an_unknown_name_is_pointed_at_when_nothing_was_found(run):
    code, out, err = run("//Job[Proccessors > 1]/Id", "one.xml")
    assert (code, out) == (1, "")
    assert err == (
        "Proccessors is not a name of the standard; did you mean Processors?\n"
        "    //Job[Proccessors > 1]/Id\n"
        "          ^\n"
    )
    assert run("//Job[Proccessors > 1 or Id]/Id", "one.xml") == (0, "1\n", "")


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(run):
    code, out, err = run("//Job/Id", "gone.xml", "one.xml")
    assert (code, out) == (2, "one.xml:1\n")
    assert err == "sssjob: error: gone.xml: No such file or directory\n"


def test_defaults_are_applied_on_request(run, tmp_path):
    defaults = "<JobDefaults><Queue>b</Queue></JobDefaults>"
    group = f"<JobGroup><Id>g</Id>{defaults}<Job><Id>1</Id></Job></JobGroup>"
    (tmp_path / "group.xml").write_text(group)
    assert run("//Job/Queue", "group.xml")[:2] == (1, "")
    assert run("--effective", "//Job/Queue", "group.xml")[:2] == (0, "b\n")


def test_a_large_input_that_needs_a_tree_is_noticed_once(run, monkeypatch):
    monkeypatch.setattr(query_messages, "_LARGE", 10)
    # Files as small as these would be opened by other processes, which notice nothing.
    code, out, err = run("--workers", "1", "//Id", "one.xml", "two.xml")
    assert (code, out) == (0, "one.xml:1\ntwo.xml:2\n")
    assert err.count("notice: this expression needs each document as a whole in memory") == 1
    assert run("//Job/Id", "one.xml")[2] == ""


def test_progress_shows_on_a_terminal_only_and_goes(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(progress, "_PATIENCE", 0)
    monkeypatch.setattr("sys.stderr", shown := Terminal())
    with progress.watched(io.BytesIO(b"x" * 1000), "jobs.xml") as stream:
        assert len(stream.read()) == 1000
    assert "jobs.xml" in shown.getvalue()
    monkeypatch.setattr("sys.stderr", hidden := io.StringIO())
    with progress.watched(io.BytesIO(b"x" * 1000), "jobs.xml") as stream:
        assert len(stream.read()) == 1000
    assert hidden.getvalue() == ""


UNKNOWN = """<Jobs>
<Job><Id>1</Id><Requested><Memory>1</Memory></Requested></Job>
<Job><Id>2</Id><Requested><Memory>1</Memory><GPU>1</GPU></Requested></Job>
<Job><Id>3</Id><Requested><Memory>3</Memory></Requested></Job>
</Jobs>
"""


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("where", ["file", "store"])
@pytest.mark.parametrize(
    "options",
    [
        ["--columns", "Id,sss:min(Requested/Memory)"],
        ["--columns", "Id", "--sort", "sss:min(Requested/Memory)"],
    ],
    ids=["columns", "sort"],
)  # fmt: skip
def test_a_job_of_which_a_column_cannot_be_asked_is_told_and_the_others_go_on(
    tmp_path, processes, where, options
):
    given = tmp_path / "jobs.xml"
    given.write_text(UNKNOWN)
    if where == "store":
        CliRunner().invoke(sssjob, ["store", "import", str(tmp_path / "jobs.db"), str(given)])
        given = tmp_path / "jobs.db"
    command = ["query", "//Job", "--csv", "--workers", processes, *options, str(given)]
    result = CliRunner().invoke(sssjob, command)
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["Id", "1", "3"]
    assert result.exit_code == 2
    [told] = result.stderr.splitlines()
    place = f"{given}:3: error: " if where == "file" else "error: "
    assert place in told
    assert "element GPU is not understood" in told


SACCT = """JobID|User|State|Start|End|NCPUS
7|amy|COMPLETED|1700000000|1700000060|16
8|bob|FAILED|1700000000|1700000060|8
9|amy|COMPLETED|1700000000|1700000060|4
"""
READ = "sacct.txt:1: notice: recognised as slurm by a header line with JobID\n"


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["//Job[Delivered/User='amy']/Id"], "7\n9\n"),
        (["--count", "Id"], "3\n"),
        (["--xpath", "3.1", "count(//Job)"], "3\n"),
        (["--workers", "2", "Id"], "7\n8\n9\n"),
        (["--sort=-Delivered/Processors", "--limit", "1", "--columns", "Id", "//Job"],
         "Id\n 7\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_records_are_asked_as_one_stream_of_documents(run, tmp_path, arguments, printed):
    (tmp_path / "sacct.txt").write_text(SACCT)
    assert run(*arguments, "sacct.txt") == (0, printed, READ)


def test_matches_in_records_have_the_lines_of_their_records(run, tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT.replace("8|bob", "x|bob"))
    _, printed, _ = run("--json", "Id", "sacct.txt")
    assert [(row["line"], row["value"]) for row in json.loads(printed)] == [(2, "7"), (4, "9")]


def test_a_record_that_cannot_be_asked_is_told_and_ends_with_1(run, tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT + "x|y|COMPLETED|1|2|3\n")
    bad = "sacct.txt:5: error: 'x' is no job id\n"
    assert run("Id", "sacct.txt") == (1, "7\n8\n9\n", READ + bad)
    assert run("--quiet", "none", "sacct.txt") == (1, "", bad)


def test_records_without_a_job_are_nothing_and_no_bad_document(run, tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT.splitlines()[0] + "\n")
    assert run("Id", "sacct.txt") == (1, "", READ)
    assert run("count(//Job)", "sacct.txt")[1] == "0\n"
