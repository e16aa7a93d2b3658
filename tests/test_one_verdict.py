"""What is impossible of a request, in the words of everybody who is asked (1121, 1122)."""

import pytest
from click.testing import CliRunner

from sssjob import loads
from sssjob.cli import sssjob
from sssjob.layout import layouts
from sssjob.registry import all_targets
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Untranslatable, translate

TARGETS = sorted(all_targets().keys() - {"sss", "dagman"})
JOB = (
    '<Job awarenessPolicy="Reject"><Id>1</Id><Executable>/bin/date</Executable>'
    "{}<Requested>{}</Requested></Job>"
)
OFFERS = '[{"Node": "n1", "Processors": 8}, {"Node": "n2", "Processors": 8}]'
CONTRARY = 'op="NE" aggregation="List" count="2"'

# Of two alternatives one cannot be met.
ONE_OF_TWO = {
    "processors that tasks do not share":
        ("<TaskCount>4</TaskCount>", '<Node>n1</Node><Processors conj="Or">3</Processors>'),
    "more nodes than a List has":
        ("", '<NodeCount>1</NodeCount><Node aggregation="List" count="2" conj="Or">n2</Node>'),
    "no node": ("", '<NodeCount op="LT">1</NodeCount><NodeCount conj="Or">1</NodeCount>'),
    "no processor": ("", '<Processors>0</Processors><Processors conj="Or">1</Processors>'),
    "a node that is excluded": ("", (
        '<Node>n1</Node><Node group="1" conj="Or">n2</Node><Node op="NE" group="-1">n2</Node>'
    )),
}  # fmt: skip
# The same where nothing else is asked for.
NONE = {
    "processors that tasks do not share":
        ("<TaskCount>4</TaskCount>", "<Processors>3</Processors>"),
    "more nodes than a List has": ("", '<Node aggregation="List" count="2">n2</Node>'),
    "more nodes than different names": ("", '<Node aggregation="Range" count="2">n[1,1]</Node>'),
    "a node that is excluded": ("", '<Node>n2</Node><Node op="NE">n2</Node>'),
}  # fmt: skip
NO_NUMBER = {
    "no node": '<NodeCount op="LT">1</NodeCount>',
    "up to no node": '<NodeCount op="LE">0</NodeCount>',
    "none": "<NodeCount>0</NodeCount>",
    "no processor": '<Processors op="LT">1</Processors>',
    "no number between": '<NodeCount op="GT">2</NodeCount><NodeCount op="LT">3</NodeCount>',
}
# What is not wanted has no count, and that of a single name is none of nodes.
USELESS = {
    "a List": f"<Node {CONTRARY}>n2</Node>",
    "beside a name": f"<Node>n1</Node><Node {CONTRARY}>n2</Node>",
    "a Pattern": '<Node op="NE" aggregation="Pattern" count="2">n2</Node>',
    "instances": '<Node count="2">n1</Node>',
}


@pytest.fixture
def asked(tmp_path):
    """What a command says of a job: its exit code, and its messages."""
    (tmp_path / "offers.json").write_text(OFFERS)

    def ask(command, own, inner):
        path = tmp_path / "job.xml"
        path.write_text(JOB.format(own, inner))
        offers = ["--offers", str(tmp_path / "offers.json")] if command == "place" else []
        done = CliRunner().invoke(sssjob, [command, str(path), *offers])
        return done.exit_code, done.stderr + done.stdout * (command == "validate")

    return ask


def refusing(job):
    """The targets that refuse a job, ads among them."""

    def is_refused(target):
        try:
            translate(job, target)
        except (Untranslatable, ValueError):
            return True
        return False

    ad = [] if all(made.runs for made in to_ads(job)) else ["ad"]
    return [*filter(is_refused, TARGETS), *ad]


@pytest.mark.parametrize("own, inner", ONE_OF_TWO.values(), ids=ONE_OF_TWO)
def test_an_alternative_that_cannot_be_met_is_left_out(asked, own, inner):
    for command in ("validate", "layout", "place"):
        code, _ = asked(command, own, inner)
        assert code == 0, command
    found = layouts(loads(JOB.format(own, inner)))
    assert len(found.layouts) == 1
    assert found.layouts[0].holds


@pytest.mark.parametrize("name", sorted(ONE_OF_TWO.keys() - {"no node", "no processor"}))
def test_a_layout_and_a_check_warn_of_an_alternative_that_is_left_out(asked, name):
    own, inner = ONE_OF_TWO[name]
    for command in ("validate", "layout"):
        _, told = asked(command, own, inner)
        assert "warning: " in told
        assert "error: " not in told


@pytest.mark.parametrize("own, inner", NONE.values(), ids=NONE)
def test_what_cannot_be_met_in_any_alternative_is_an_error(asked, own, inner):
    for command in ("validate", "layout", "place"):
        code, told = asked(command, own, inner)
        assert code == 1, command
        assert "error: " in told
    refused = refusing(loads(JOB.format(own, inner)))
    assert refused == [*TARGETS, "ad"]


@pytest.mark.parametrize("inner", NO_NUMBER.values(), ids=NO_NUMBER)
def test_what_leaves_no_number_is_told_of_by_all(asked, inner):
    assert [asked(command, "", inner)[0] for command in ("layout", "place")] == [1, 1]
    code, told = asked("validate", "", inner)
    assert code == 0
    assert "W-UNSAT" in told
    assert refusing(loads(JOB.format("", inner))) == [*TARGETS, "ad"]


@pytest.mark.parametrize("inner", USELESS.values(), ids=USELESS)
def test_a_count_of_no_set_that_is_wanted_says_nothing(asked, inner):
    for command in ("validate", "layout", "place"):
        code, told = asked(command, "", inner)
        assert code == 0, command
        assert ("W-USELESS" in told) is (command == "validate" and "NE" in inner)
    plainly = inner.replace(' count="2"', "")
    assert refusing(loads(JOB.format("", inner))) == refusing(loads(JOB.format("", plainly)))
