"""sssjob show: trees for people, documents for machines."""

import json

import pytest
from click.testing import CliRunner

from sssjob import loads
from sssjob.cli import sssjob
from sssjob.visible import visible

GROUP = """<JobGroup><Id>g</Id>
 <JobDefaults><User>keith</User><Requested><Memory units="MB">512</Memory></Requested></JobDefaults>
 <Job><Id>a</Id><State>Running</State>
  <StartTime>1051557713</StartTime><Duration>3600</Duration></Job>
 <Job><Id>b</Id><User>amy</User><!-- by hand -->
  <Requested><Processors op="GE">4</Processors></Requested></Job>
 <Job>job77</Job>
</JobGroup>"""


def show(*arguments, document=GROUP):
    return CliRunner().invoke(sssjob, ["show", *arguments, "-"], input=document)


def test_the_tree_names_each_job_with_its_state_and_times_as_people_read_them():
    result = show()
    assert result.exit_code == 0
    assert "JobGroup g" in result.output
    assert "Job a Running" in result.output
    assert "StartTime 1051557713 (2003-04-28T19:21:53Z)" in result.output
    assert "Duration 3600 (01:00:00)" in result.output
    assert "Processors GE 4" in result.output
    assert "Job → job77" in result.output
    assert "by hand" in result.output


def test_effective_documents_have_no_defaults_left_and_validate():
    result = show("--effective", "--to", "sss-lines")
    (line,) = result.stdout.splitlines()
    group = loads(line)
    assert [job.get("User") for job in group.jobs] == ["keith", "amy"]
    assert group.jobs[1].requested.names() == {"Processors", "Memory"}
    assert "JobDefaults" not in line


def test_explain_says_where_each_value_was_written_and_what_it_overrode():
    output = show("--explain").output
    assert "/JobGroup/Job[1]/User = 'keith' (JobDefaults:2)" in output
    assert "/JobGroup/Job[2]/User = 'amy' (own:5, over 'keith' of JobDefaults)" in output


def test_documents_come_back_as_they_were_but_for_older_names():
    document = (
        "<Job><JobId>1</JobId><Memory>1.890</Memory><x:Mood xmlns:x='urn:x'>ok</x:Mood></Job>"
    )
    result = show("--to", "sss-lines", document=document)
    assert result.stdout.startswith("<Job><Id>1</Id><Memory>1.890</Memory>")
    assert loads(result.stdout) == loads(document)


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        pytest.param("3.0", "<Job><JobId>1</JobId><UserId>amy</UserId></Job>", id="3.0"),
        pytest.param("0.2", "<Job><jobId>1</jobId><userName>amy</userName></Job>", id="0.2"),
        pytest.param("gold", "<Job><JobId>1</JobId><UserId>amy</UserId></Job>", id="gold"),
    ],
)
def test_a_dialect_writes_the_names_that_its_readers_know(dialect, expected):
    document = "<Job><Id>1</Id><User>amy</User></Job>"
    result = show("--to", "sss-lines", "--dialect", dialect, document=document)
    assert result.stdout.strip() == expected
    assert loads(result.stdout) == loads(document)


def test_gold_gets_a_flat_job_and_hears_what_had_no_place():
    document = """<Job><Id>1</Id><Duration>1</Duration>
      <Requested><Queue>q</Queue><Memory op="GE" units="GB">2</Memory></Requested>
      <Delivered><Duration>1155</Duration></Delivered><TaskGroup><Id>t</Id></TaskGroup></Job>"""
    result = show("--to", "sss-lines", "--dialect", "gold", document=document)
    assert result.stdout == (
        "<Job><JobId>1</JobId><WallDuration>1155</WallDuration><Queue>q</Queue></Job>\n"
    )
    for lost in ("Duration", "Memory", "TaskGroup t"):
        assert f"Gold has no place for {lost} of job 1" in result.stderr


def test_a_namespace_can_be_written_and_taken_away():
    space = "http://www.scidac.org/ScalableSystems/SSSRMAP"
    document = "<Job><Id>1</Id></Job>"
    written = show("--to", "sss-lines", "--namespace", "sssrmap", document=document).stdout
    assert written == f'<Job xmlns="{space}"><Id>1</Id></Job>\n'
    assert (
        show("--to", "sss-lines", "--namespace", "none", document=written).stdout.strip()
        == document
    )


def test_json_holds_text_as_written_beside_its_value():
    document = '<Job><Id>1</Id><Memory units="GB">1.890</Memory><Charge>x</Charge></Job>'
    items = json.loads(show("--json", document=document).stdout)["items"]
    assert items[1] == {
        "element": "Memory", "text": "1.890", "value": 1.89, "attributes": {"units": "GB"},
    }  # fmt: skip
    assert items[2] == {"element": "Charge", "text": "x", "value": None}


def test_a_bad_document_is_named_and_the_others_are_shown(tmp_path):
    bad, good = tmp_path / "bad.xml", tmp_path / "good.xml"
    bad.write_text("<Job><Id>1</Job>")
    good.write_text("<Job><Id>2</Id></Job>")
    result = CliRunner().invoke(sssjob, ["show", str(bad), str(tmp_path / "none"), str(good)])
    assert result.exit_code == 2
    assert "Job 2" in result.stdout
    assert (
        f"{bad}:1:11: error: <Id> (line 1) is not closed before </Job> [E-XML]\n" in result.stderr
    )
    assert f"{tmp_path}/none: No such file or directory" in result.stderr


def test_nothing_to_show_is_said_by_the_exit_code():
    assert show(document="<Jobs/>").exit_code == 1


def test_names_from_strangers_cannot_steer_a_terminal():
    assert visible("\t\x9b2J\u202e") == "␉\ufffd2J\ufffd"


def test_a_long_text_is_shown_to_its_end():
    document = f"<Job><Id>1</Id><Arguments>{'-x ' * 500}-end</Arguments></Job>"
    assert "-x -end\n" in show(document=document).output


REFERENCES = """<Jobs><JobGroup><Id>g</Id><Job>stage</Job><Job>job77</Job></JobGroup>
<Job><Id>stage</Id><User>amy</User></Job></Jobs>"""


def test_references_give_way_to_definitions_wherever_the_document_has_them():
    lines = show("--deref", "--to", "sss-lines", document=REFERENCES).stdout.splitlines()
    assert lines[0] == (
        "<JobGroup><Id>g</Id><Job><Id>stage</Id><User>amy</User></Job><Job>job77</Job></JobGroup>"
    )
    kept = show("--to", "sss-lines", document=REFERENCES).stdout.splitlines()
    assert kept[0] == "<JobGroup><Id>g</Id><Job>stage</Job><Job>job77</Job></JobGroup>"


AROUND = """<?xml version="1.0"?>
<!-- before --><?pi before?>
<Wrap a='1'  xmlns:p="urn:p">
  text <!-- in it -->
  <Job  ><Id>1<!-- in a value --></Id><Executable>#Script</Executable>{}</Job> <?between?>
  <Job><Id>2</Id><p:x y='p:z'/></Job>
  <File id='Script'><![CDATA[a <b>]]></File><File id="Other"/>
</Wrap>
<!-- behind -->"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("is_stream", [True, False])
def test_a_whole_document_is_written_byte_for_byte(encoding, is_stream, tmp_path):
    data = AROUND.format("").encode(encoding)
    path = tmp_path / "job.xml"
    path.write_bytes(data)
    name, given = ("-", data) if is_stream else (str(path), None)
    result = CliRunner().invoke(sssjob, ["show", "--to", "sss", name], input=given)
    assert (result.exit_code, result.stdout_bytes) == (0, data)


@pytest.mark.parametrize(
    "named",
    [("<UserId>a</UserId>", "<User>a</User>"),
     ("<wallclockLimit>5</wallclockLimit>", "<Requested><Duration>5</Duration></Requested>")],
)  # fmt: skip
def test_a_job_with_older_names_is_written_anew_and_nothing_else(named):
    older, present = map(AROUND.format, named)
    result = show("--to", "sss", document=older)
    assert result.exit_code == 0
    before, _, behind = present.partition("<Job  >")
    assert result.stdout.startswith(before)
    assert result.stdout.endswith(behind.partition("</Job>")[2])
    assert named[1] in result.stdout
    assert older.count("Job>") == result.stdout.count("Job>") - 1


def test_what_cannot_be_read_whole_is_shown_as_far_as_it_can_be():
    result = show("--to", "sss", document="<Data><Job><Id>1</Id></Job>\n<Job><Id>2</Job></Data>")
    assert result.exit_code == 2
    assert result.stdout.count("<Id>1</Id>") == 1
