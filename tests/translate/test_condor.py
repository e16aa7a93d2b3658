# ruff: noqa: E501 (a case is a line)
import re
import shlex

import htcondor2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_cases import put, written
from submit_cases import CONDOR as BOTH
from translated import comes_back, losses_of, requested, wrapped

from sssjob.classads import forms, quoting
from sssjob.document import dumps, loads
from sssjob.document.canonical import canon
from sssjob.errors import InvalidValue
from sssjob.expression import parse
from sssjob.systems.condor.from_ad import to_job
from sssjob.translate import Done, Settings, read, translate

START = "executable = /bin/true"
# fmt: off
READ = [
    (["request_memory = 2 GB", "REQUEST_CPUS=2"], requested('<Processors>2</Processors><Memory units="GB">2</Memory>')),
    (["request_memory = 1.5g"], requested('<Memory units="MB">1536</Memory>')),
    (["request_memory = 1025 KB", "request_disk = 1.001"], requested('<Memory units="MB">2</Memory><Disk units="KB">2</Disk>')),
    (["arguments = a \\", "  b"], "<Arguments>a b</Arguments>"),
    (["arguments = \"one 'two words'\""], "<Arguments>one 'two words'</Arguments>"),
    (["environment = A=1;B=2"], '<Environment><Variable name="A">1</Variable><Variable name="B">2</Variable></Environment>'),
]
KEPT = ["+Mood = 3", "request_memory = ifthenelse(a, 1, 2)", "requirements = TARGET.Foo =?= 3", "universe = docker", "arguments = $(X)",
        "getenv = PATH, HOME", "when_to_transfer_output = ON_EXIT", "request_cpus = 0", "X = 5"]
CHANGED = [
    (requested('<Processors op="GE">4</Processors><Processors op="LE">8</Processors>'), ["request_cpus = 4"], "all of them on one machine; the least of a range: only one number is taken"),
    (requested('<Memory units="KB">1</Memory>'), ["request_memory = 1"], "1 MB, rounded up"),
    (requested("<NodeCount>2</NodeCount><Processors>3</Processors>"), ["universe = parallel", "machine_count = 2", "request_cpus = 2"], "4 in all"),
]
REFUSED = [
    "<Dependency>7</Dependency>", "<Queue>q</Queue>", "<Restartable>true</Restartable>", "<Interactive>true</Interactive>",
    "<NotificationList>JobStart</NotificationList>", requested("<Swap>5</Swap>"), "<Name>a\nqueue 9</Name>", "<Name>a\\</Name>",
    "<ResourceLimit name='CPUTime'>5</ResourceLimit>", '<OutputFile redirectList="Append">o</OutputFile>',
    '<Environment><Variable name="A">x\ny</Variable></Environment>', "<Priority>soon</Priority>",
]
# fmt: on


def commands(inner):
    text = translate(loads(wrapped(inner)), "condor", Settings(residual=False)).text
    first, *lines, last = text.splitlines()
    assert (first, last) == (START, "queue")
    return lines


def said(*lines):
    (found,) = read("\n".join((START, *lines, "queue\n")).encode())
    text = dumps(found.job).removeprefix("<Job>").removesuffix("</Job>")
    return text.replace("<Executable>/bin/true</Executable>", ""), found.findings


@pytest.mark.parametrize(("inner", "lines"), BOTH)
def test_what_a_job_says_is_a_command_and_the_command_says_it_again(inner, lines):
    assert commands(inner) == lines
    told = [loss for loss in losses_of(inner, "condor") if loss.done is not Done.CONVERTED]
    assert not [loss for loss in told if "parallel universe" not in loss.reason]
    comes_back(loads(wrapped(inner)), "condor")
    text, findings = said(*lines)
    assert (sorted(text.split("<")), findings) == (sorted(inner.split("<")), ())


@pytest.mark.parametrize(("lines", "inner"), READ)
def test_every_spelling_of_a_command_is_read(lines, inner):
    assert said(*lines) == (inner, ())


@pytest.mark.parametrize("line", KEPT)
def test_what_has_no_place_is_kept_and_written_back_where_it_stood(line):
    text = f"{START}\n{line}\npriority = 1\nqueue\n"
    (found,) = read(text.encode())
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    assert translate(found.job, "condor", Settings(residual=False)).text == text


MACROS = (
    "$ENV(HOME)",
    "$(Cluster)",
    "$INT(x)",
    "a$b",
    "$",
    "$(DOLLAR)(X)",
    "$(dollar)",
    "$RANDOM_CHOICE(1,2)",
    "$$",
    "a$$$b",
    "$$$$ENV(HOME)",
)
TEXTS = (
    "<Name>{}</Name>",
    "<Project>{}</Project>",
    "<InitialWorkingDirectory>/{}</InitialWorkingDirectory>",
    "<InputFile>{}</InputFile>",
    "<OutputFile>{}</OutputFile>",
    "<ErrorFile>{}</ErrorFile>",
    "<Arguments>'{}'</Arguments>",
    '<Environment><Variable name="A">{}</Variable></Environment>',
    '<NotificationList uri="{}@x">JobEnd</NotificationList>',
    requested("<Feature>{}</Feature>"),
    requested("<Node>{}</Node>"),
    '<OutputFile>{}</OutputFile><ErrorFile redirectList="Merge"/>',
    requested('<Resource name="{}" type="License">1</Resource>'),
    "<Machine>{}</Machine>",
)


# Of several dollar signs two each stand for themselves, and one alone never stands before others.
DOLLARS = re.compile(r"(?:\$\$)+(?![(\[])(?:\$\(DOLLAR\)(?!\$))?|\$\(DOLLAR\)(?!\$)")


@pytest.mark.parametrize("target", ["condor", "dagman"])
@pytest.mark.parametrize("inner", TEXTS)
@pytest.mark.parametrize("sign", MACROS)
def test_no_text_of_a_job_is_a_macro(sign, inner, target):
    job = loads(wrapped(inner.replace("{}", sign)))
    text = translate(job, target, Settings(residual=False)).text
    for line in text.splitlines():
        assert "$" not in DOLLARS.sub("", line), line
    comes_back(job, target)


def test_two_dollar_signs_are_themselves():
    """condor_submit 23.9 makes $$(DOLLAR) of $(DOLLAR)$(DOLLAR), which a slot fills in."""
    inner = "<Arguments>a$$b $ $$$</Arguments>"
    text = translate(loads(wrapped(inner)), "condor", Settings(residual=False)).text
    assert 'arguments = "a$$b $(DOLLAR) $$$(DOLLAR)"' in text
    (found,) = read(b'executable = /x\narguments = "$(DOLLAR)$(DOLLAR)"\nqueue\n')
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]


@pytest.mark.parametrize(
    "option", ["batch_name", "accounting_group", "initialdir", "output", "error", "input"]
)
def test_a_value_with_a_macro_is_kept(option):
    line = f"{option} = a.$ENV(HOME)"
    text = f"{START}\n{line}\nqueue\n"
    (found,) = read(text.encode())
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    assert translate(found.job, "condor", Settings(residual=False)).text == text


def test_an_address_with_a_macro_is_kept():
    text = f"{START}\nnotification = Complete\nnotify_user = $(USER)@x\nqueue\n"
    (found,) = read(text.encode())
    assert translate(found.job, "condor", Settings(residual=False)).text == text


def test_how_many_jobs_are_queued_is_kept():
    (found,) = read(f"{START}\nqueue 5\npriority = 2\nqueue\n".encode())
    assert [each.code for each in found.findings] == ["W-UNKNOWN", "W-UNKNOWN"]
    assert translate(found.job, "condor", Settings(residual=False)).text == f"{START}\nqueue 5\n"


@pytest.mark.parametrize(("inner", "lines", "reason"), CHANGED)
def test_what_is_changed_is_told(inner, lines, reason):
    assert commands(inner) == lines
    told = {loss.reason for loss in losses_of(inner, "condor") if loss.done is not Done.CONVERTED}
    assert {each for each in told if "parallel universe" not in each} == {reason}
    comes_back(loads(wrapped(inner)), "condor")


@pytest.mark.parametrize("inner", REFUSED)
def test_what_has_no_command_is_kept_beside_and_told(inner):
    assert [loss.done for loss in losses_of(inner, "condor")] == [Done.RESIDUAL]
    assert "queue 9" not in commands(inner)
    comes_back(loads(wrapped(inner)), "condor")


def test_a_choice_of_machines_and_wishes_are_requirements_and_a_rank():
    inner = requested(
        '<Feature group="1">ib</Feature><Feature conj="Or" group="-1">ssd</Feature>'
        '<Node op="Match">n.*</Node><Architecture preference="-1">x86_64</Architecture>'
    )
    requirements, rank = commands(inner)
    assert requirements.startswith("requirements = ")
    assert "Hasib" in requirements
    assert "||" in requirements
    assert "regexp" in requirements.lower()
    assert "X86_64" in rank
    assert not losses_of(inner, "condor")
    comes_back(loads(wrapped(inner)), "condor")


START_OF_RANK = "executable = /bin/true\nrequest_cpus = 4\n"
# A rank, the wishes that it is, and how it is written again.
RANKS = [
    (
        "TARGET.Hasssd =?= true",
        '<Feature preference="-1">ssd</Feature>',
        "1 * (TARGET.Hasssd =?= true)",
    ),
    (
        "2 * (TARGET.Hasa =?= true) + (TARGET.Hasb =?= true) * 3",
        '<Feature preference="-2">a</Feature><Feature preference="-3" conj="And">b</Feature>',
        "2 * (TARGET.Hasa =?= true) + 3 * (TARGET.Hasb =?= true)",
    ),
    (
        '((TARGET.Arch == "X86_64") + 4 * !(TARGET.Hasold =?= true))',
        '<Architecture preference="-1">x86_64</Architecture><Feature op="NE" preference="-4">old</Feature>',
        '1 * (TARGET.Arch == "X86_64") + 4 * (!(TARGET.Hasold =?= true))',
    ),
]
RANKS_KEPT = [
    "Memory",
    "TARGET.Memory >= 4096",
    "2.5 * (TARGET.Hasa =?= true)",
    "-1 * (TARGET.Hasa =?= true)",
    "0 * TARGET.Hasa",
    "(TARGET.Hasa =?= true) + Memory",
    "TARGET.Hasa || TARGET.Hasb",
    "$(my_rank)",
    "true * TARGET.Hasa",
    "1 +",
]


@pytest.mark.parametrize(("rank", "wishes", "again"), RANKS)
def test_a_rank_of_what_machines_are_is_wishes(rank, wishes, again):
    (found,) = read(f"{START_OF_RANK}rank = {rank}\nqueue\n".encode())
    assert wishes in dumps(found.job)
    assert not found.findings
    text = translate(found.job, "condor", Settings(residual=False)).text
    assert f"rank = {again}\n" in text
    (back,) = read(text.encode())
    assert canon(back.job) == canon(found.job)


@pytest.mark.parametrize("rank", RANKS_KEPT)
def test_another_rank_is_kept_and_written_back(rank):
    (found,) = read(f"{START_OF_RANK}rank = {rank}\nqueue\n".encode())
    assert [each.line for each in found.findings] == [3]
    assert f"rank = {rank}\n" in translate(found.job, "condor", Settings(residual=False)).text


def test_a_choice_in_requirements_stands_beside_the_amounts():
    """Without brackets around the choice, the amounts would be a part of it."""
    text = f"{START_OF_RANK}requirements = (TARGET.Hasa =?= true || TARGET.Hasb =?= true)\nqueue\n"
    (found,) = read(text.encode())
    assert str(parse(found.job.requested)) == "(Processors EQ 4 And (Feature EQ a Or Feature EQ b))"


@pytest.mark.parametrize("text", ["a $$(Arch)", "a $$[x]"])
def test_what_a_slot_would_fill_in_is_not_written_as_an_argument(text):
    with pytest.raises(InvalidValue):
        translate(loads(wrapped(f"<Arguments>{text}</Arguments>")), "condor")


WORDS = st.text(
    st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs", "Cc"]), max_size=9
)


@given(st.lists(WORDS.filter(lambda text: "$$(" not in text and "$$[" not in text), max_size=5))
def test_htcondor_reads_arguments_as_they_were(words):
    from sssjob.model import Property

    job = loads(wrapped("")).setting(Property("Arguments", shlex.join(words)))
    try:
        text = translate(job, "condor").text
    except (InvalidValue, ValueError):
        return
    submit = htcondor2.Submit(text)
    if words:
        assert quoting.split_submit(submit.expand("arguments")) == words
    assert submit.expand("executable") == "/bin/true"


@pytest.mark.parametrize("inner", put("condor"))
def test_the_bindings_have_each_command_as_it_is_written(inner):
    text = written(inner, "condor")
    submit = htcondor2.Submit(text)
    own = dict(line.split(" = ", 1) for line in text.splitlines()[:-1])
    assert {name.lower(): value for name, value in submit.items()} == own


@given(data=st.data())
def test_any_of_them_together_come_back(data):
    own = [case[0] for case in (*BOTH, *CHANGED)] + REFUSED
    inner = data.draw(
        st.lists(st.sampled_from(own), unique_by=lambda each: each.split(">")[0].split()[0])
    )
    comes_back(loads(wrapped("".join(inner))), "condor")


def test_what_is_kept_is_told_with_its_line():
    text = b"# sssjob: Id - <Job><Id>1</Id></Job>\nexecutable = /bin/true\n\nodd = \\\n 1\nwrong\nqueue\n"
    (found,) = read(text, "condor")
    assert [each.line for each in found.findings] == [6, 4]


def test_a_program_by_its_name_alone_is_the_file_where_it_is_submitted():
    (found,) = read(b"executable = a.sh\nqueue\n")
    assert found.job.get("Executable") == "./a.sh"
    assert "\nexec ./a.sh\n" in translate(found.job, "sbatch").text
    assert translate(found.job, "condor").text.startswith("executable = ./a.sh\n")


def test_that_a_program_is_not_looked_for_is_told():
    job = loads("<Job><Id>1</Id><Executable>date</Executable></Job>")
    (loss,) = [each for each in translate(job, "condor").losses if each.path == "/Job/Executable"]
    assert "PATH" in loss.reason
    assert comes_back(job, "condor")


# decision 982
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2", 2), ("2.0", 2), ("1e3", 1000), ('"2"', 2), ("2 * 3", 6), ("(3)", 3), ("7 % 4", 3),
        ("-1", 0), ("0", 0), ("010", 0), ("1e30", 0), ('"x"', 0), ("1/0", 0), ("Cpus", 0),
    ],
)  # fmt: skip
def test_a_number_is_read_in_a_submit_file_as_in_an_ad(text, number):
    options = ("request_cpus", "request_foo", "allowed_job_duration")
    lines = [f"{option} = {text}" for option in options]
    (found,) = read("\n".join(("executable = /bin/x", *lines, "queue\n")).encode(), "condor")
    assert numbers_of(found.job) == [str(number)] * (3 if number else 0)
    kept = [item for item in found.job.properties.all("Extension") if item.text == text]
    assert len(kept) == (0 if number else 3) == len(found.findings)
    if text != "010":  # which no ad holds
        attributes = ("RequestCpus", "RequestFoo", "AllowedJobDuration")
        (ad,) = forms.read_text("".join(f"{name} = {text}\n" for name in attributes))
        assert numbers_of(to_job(ad).job) == numbers_of(found.job)


def numbers_of(job):
    return [
        item.text for name in ("Processors", "Resource", "Duration")
        for item in job.requested.all(name)
    ]  # fmt: skip
