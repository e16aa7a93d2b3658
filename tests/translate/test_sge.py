# ruff: noqa: E501 (a case is a line)
import pytest
from hypothesis import given
from hypothesis import strategies as st
from submit_cases import SGE as BOTH
from submit_cases import TAKEN_APART
from translated import comes_back, losses_of, options_of, requested, said_by_script, script, wrapped

from sssjob.document import loads
from sssjob.model import Property
from sssjob.systems.gridengine.requested import LIMITS
from sssjob.translate import Done, Settings, read, translate

# fmt: off
READ = [
    (["-l h_rt=1:0:0,h_vmem=1g", "-pe smp 2"], requested('<Processors>2</Processors><Memory units="KB">1953125</Memory><Duration>3600</Duration>')),
    (["-l ib"], requested("<Feature>ib</Feature>")),
    (["-v A=1,B=2"], '<Environment><Variable name="A">1</Variable><Variable name="B">2</Variable></Environment>'),
    (["-pe smp -8"], requested('<Processors op="LE">8</Processors>')),
    (["-l hostname=n1"], requested("<Node>n1</Node>")),
]
KEPT = ["-cwd", "-t 1-10:2", "-tc 5", "-l h_rt=INFINITY", "-l matlab=3", "-hold_jid prep", "-pe smp 1-4,8", "-notify", "-m as", "-l h=n[12]", "-l h=!!n", "-l h=n*|m*", "-b y"]
CHANGED = [
    ("<Name>7up</Name>", ["-N _7up"], "it is called '_7up' there"),
    (requested('<Processors>3</Processors><Memory units="MB">1</Memory>'), ["-pe smp 3", "-l h_vmem=349526"], "349526 of each slot, rounded up"),
    (requested('<Node aggregation="Range">n[1-2]</Node>'), ["-pe smp 2", "-l h=n1|n2"], "any of them"),
]
REFUSED = [
    "<Dependency>7</Dependency>", "<Dependency condition='OnExit'>prep</Dependency>", "<QualityOfService>q</QualityOfService>",
    requested("<NodeCount>2</NodeCount>"), '<TaskDistribution type="TasksPerNode">2</TaskDistribution>', requested("<Disk>5</Disk>"),
    "<Interactive>true</Interactive>", "<Project>a&#10;#$ -q x</Project>", requested('<Node aggregation="Pattern">n[0-9]</Node>'), "<Machine>m</Machine>",
]
# fmt: on


@pytest.mark.parametrize(("inner", "lines"), BOTH)
def test_what_a_job_says_is_an_option_and_the_option_says_it_again(inner, lines):
    assert [line for line in options_of(inner, "sge") if line != "-S /bin/sh"] == sorted(
        lines, key=options_of(inner, "sge").index
    )
    assert not [loss for loss in losses_of(inner, "sge") if loss.done is not Done.CONVERTED]
    comes_back(loads(wrapped(inner)), "sge")
    text, findings = said_by_script("#$", ["-S /bin/sh", *lines], "sge")
    assert (sorted(text.split("<")), findings) == (sorted(inner.split("<")), ())


@pytest.mark.parametrize(("lines", "inner"), READ)
def test_every_spelling_of_an_option_is_read(lines, inner):
    assert said_by_script("#$", ["-S /bin/sh", *lines], "sge") == (inner, ())


@pytest.mark.parametrize("line", KEPT)
def test_what_has_no_place_is_kept_and_written_back_where_it_stood(line):
    text = f"#$ -S /bin/sh\n#$ -N a\n#$ {line}\n#$ -q x\nexec /bin/true\n"
    (found,) = read(text.encode(), "sge")
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    assert translate(found.job, "sge", Settings(residual=False)).text == f"#!/bin/sh\n{text}"


def test_a_checkpointing_environment_says_that_a_job_can_be_checkpointed():
    text, _ = said_by_script("#$", ["-S /bin/sh", "-ckpt blcr"], "sge")
    assert "<Checkpointable>true</Checkpointable>" in text
    inner = (
        '<Checkpointable>true</Checkpointable><Extension type="sge" name="-ckpt">blcr</Extension>'
    )
    assert "-ckpt blcr" in options_of(inner, "sge")
    comes_back(loads(wrapped(inner)), "sge")
    comes_back(loads(wrapped("<Checkpointable>true</Checkpointable>")), "sge")


def test_wishes_are_kept_as_wishes():
    text = b"#$ -S /bin/sh\n#$ -soft -l ib,mem_free=2G -hard -l ssd\nexec /bin/true\n"
    (found,) = read(text)
    assert [item.text for item in found.job.requested] == ["ssd", "ib"]
    again = translate(found.job, "sge", Settings(residual=False)).text
    assert "#$ -soft -l ib=TRUE -hard\n" in again
    assert "#$ -soft -l mem_free=2G -hard\n" in again


@pytest.mark.parametrize(("inner", "lines", "reason"), CHANGED)
def test_what_is_changed_is_told(inner, lines, reason):
    assert [line for line in options_of(inner, "sge") if "-S" not in line] == lines
    assert {loss.reason for loss in losses_of(inner, "sge")} == {reason}
    comes_back(loads(wrapped(inner)), "sge")


@pytest.mark.parametrize("inner", REFUSED)
def test_what_has_no_option_is_kept_beside_and_told(inner):
    assert [loss.done for loss in losses_of(inner, "sge")] == [Done.RESIDUAL]
    assert not [line for line in options_of(inner, "sge") if "-S" not in line and "-pe" not in line]
    comes_back(loads(wrapped(inner)), "sge")


@pytest.mark.parametrize(
    "asked",
    ["<NodeCount>1</NodeCount>", '<NodeCount op="LE">1</NodeCount>', '<NodeCount op="LT">2</NodeCount>',
     '<NodeCount op="GE">1</NodeCount>', '<NodeCount op="LE">4</NodeCount><Processors>1</Processors>'],
)  # fmt: skip
def test_a_single_slot_is_on_one_node_of_any_number_that_admits_it(asked):
    assert losses_of(requested(asked), "sge") == []


@given(data=st.data())
def test_any_of_them_together_come_back(data):
    own = [case[0] for case in (*BOTH, *CHANGED)] + REFUSED
    inner = data.draw(
        st.lists(st.sampled_from(own), unique_by=lambda each: each.split(">")[0].split()[0])
    )
    comes_back(loads(wrapped("".join(inner))), "sge")


@pytest.mark.parametrize(("directive", "name", "text"), TAKEN_APART)
def test_a_directive_is_taken_apart_as_qsub_does(directive, name, text):
    (found,) = read(f"#!/bin/sh\n#$ {directive}\ndate\n".encode(), "sge")
    items = [item for item in found.job.items if isinstance(item, Property)]
    said = {item.attributes["name"]: item.text for item in items if item.name == "Extension"}
    variables = [each for item in items if item.name == "Environment" for each in item.children]
    shown = {
        "account": said.get("-A"),
        "env_list": ",".join(f"{each.attributes['name']}={each.text}" for each in variables),
    }
    assert shown[name] == text
    assert bool(found.job.get("Priority")) == ("-p" in directive and "'" not in directive)


@pytest.mark.parametrize("text", ["it's", 'a"b', "#"])
def test_a_text_with_quotes_is_no_value_of_a_directive(text):
    """qsub leaves all quotes out."""
    job = loads(f"<Job><Executable>/x</Executable><OutputFile>{text}</OutputFile></Job>")
    found = translate(job, "sge")
    assert "#$ -o" not in found.text
    assert [loss.path for loss in found.losses] == ["/Job/OutputFile"]


@pytest.mark.parametrize("value", ["all.q,long.q@node*", "long.q@node1", "*.q", "a|b", "@@hosts"])
def test_a_queue_with_a_host_or_a_wildcard_is_no_queue_of_another_system(value):
    (found,) = read(script("#$", [f"-q {value}"]), "sge")
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    assert "--partition" not in translate(found.job, "sbatch", Settings(residual=False)).text
    assert f"#$ -q {value}\n" in translate(found.job, "sge", Settings(residual=False)).text
    comes_back(found.job, "sbatch")
    comes_back(found.job, "sge")


@pytest.mark.parametrize("value", ["INFINITY", "1e3", "zz9", "-7777"])
@pytest.mark.parametrize("option", [*LIMITS.values(), "h_rt", "h_vmem", "swap_free"])
def test_a_limit_that_is_no_number_is_kept_and_written_back(option, value):
    line = f"-l {option}={value}"
    text, findings = said_by_script("#$", [line], "sge")
    assert value in text
    assert [each.message for each in findings if option in each.message]
    (found,) = read(script("#$", [line]), "sge")
    assert f"#$ {line}" in translate(found.job, "sge", Settings(files=found.files)).text
