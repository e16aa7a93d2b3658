# ruff: noqa: E501 (a case is a line)
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from submit_cases import SBATCH as BOTH
from translated import (
    comes_back,
    losses_of,
    options_of,
    requested,
    said_by_script,
    script,
    wrapped,
)

from sssjob.document import dumps, loads
from sssjob.document.canonical import canon
from sssjob.errors import InvalidValue
from sssjob.systems.slurm.directives import quote, split
from sssjob.translate import Done, Settings, Untranslatable, read, translate

JOB = "<Job><Id>1</Id><Executable>/bin/true</Executable>{}</Job>"


def directives(inner, **settings):
    text = translate(loads(JOB.format(inner)), "sbatch", Settings(**settings)).text
    return [line[8:] for line in text.splitlines() if line.startswith("#SBATCH")]


def said(*lines):
    """What a script says, as XML without the program."""
    (found,) = read(script("#SBATCH", lines), "sbatch")
    text = dumps(found.job).removeprefix("<Job>").removesuffix("</Job>")
    return text.replace("<Executable>/bin/true</Executable>", ""), found.findings


# What is written, and read back as the same text.
# fmt: off
# fmt: on


@pytest.mark.parametrize(("inner", "lines"), BOTH)
def test_what_a_job_says_is_an_option_and_the_option_says_it_again(inner, lines):
    assert directives(inner) == lines
    _text, losses = translate(loads(JOB.format(inner)), "sbatch")
    assert not [
        loss for loss in losses if loss.done is not Done.CONVERTED and loss.path != "/Job/Id"
    ]
    comes_back(loads(JOB.format(inner)), "sbatch")
    if not lines:
        return
    assert said(*lines) == (inner, ())


# fmt: off
READ = [
    (["-N4", "-n 8"], "<TaskCount>8</TaskCount>" + requested("<NodeCount>4</NodeCount><Processors>8</Processors>")),
    (["-N 2-4 -t 90"], requested('<NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount><Duration>5400</Duration>')),
    (["--time 1-2"], requested("<Duration>93600</Duration>")),
    (["-t 2:30"], requested("<Duration>150</Duration>")),
    (["-t 1-2:30"], requested("<Duration>95400</Duration>")),
    (["--job-name='a b' # c"], "<Name>a b</Name>"),
    (["--job-n x"], "<Name>x</Name>"),
    (["--mem=2000"], requested('<Memory units="MB">2000</Memory>')),
    (["--ntasks=4 --mem-per-cpu=1G"], "<TaskCount>4</TaskCount>" + requested('<Processors>4</Processors><Memory units="GB">4</Memory>')),
    (["-N2", "--gres=gpu:tesla:2"], requested('<NodeCount>2</NodeCount><Resource name="GPU" type="tesla">4</Resource>')),
    (["-N2", "--gpus-per-node=3"], requested('<NodeCount>2</NodeCount><Resource name="GPU">6</Resource>')),
    (["-w n[1-2],m5"], requested('<Node aggregation="List">n1,n2,m5</Node>')),
    (["--export=ALL,A=1,B=x"], '<Environment export="true"><Variable name="A">1</Variable><Variable name="B">x</Variable></Environment>'),
    (["-d afterok:1:2,afterany:3"], '<Dependency>1</Dependency><Dependency>2</Dependency><Dependency condition="OnExit">3</Dependency>'),
    (["-J a", "-J b"], "<Name>b</Name>"),
    (["--export=PATH,HOME", "--export=ALL,A=1"], '<Environment export="true"><Variable name="A">1</Variable></Environment>'),
    (["--export=PATH,HOME", "--export=NONE"], '<Environment export="false"/>'),
    (["--nice"], "<Priority>-100</Priority>"),
    (["--priority=5"], "<Priority>5</Priority>"),
    (["--constraint=nps:1"], requested("<Feature>nps:1</Feature>")),
    (["-N2k"], requested("<NodeCount>2048</NodeCount>")),
]
# Kept word by word: what has no place, and what only a part has a place for.
KEPT = [
    "--mcs-label=x", "--exclusive=user", "--mail-type=BEGIN,FAIL",
    "--dependency=afterok:1?afterok:2", "--dependency=singleton", "--begin=now+1hour",
    "--export=PATH,HOME", "--constraint=[a|b]", "--constraint=a*2", "--prefer=a|b",
    "--constraint=a|b&c", "--constraint=(a&b)|c", "--exclude=./file", "--gres=fpga:2", "--time=UNLIMITED", "--mem=0",
    "--nodes=0", "--new-option a b", "--nice=-5", "--nice=0", "--nice=2147483646", '--comment="a b"', "--wckey=x#y",
]
# fmt: on


@pytest.mark.parametrize(("lines", "inner"), READ)
def test_every_spelling_of_an_option_is_read(lines, inner):
    found, findings = said(*lines)
    assert found == inner
    each = any("gpu:tesla" in line or "per-node=3" in line for line in lines)  # of each node
    lasting = [found for found in findings if "does not count" not in found.message]
    assert bool(lasting) is each


def test_memory_of_a_processor_beside_that_of_a_node_does_not_count():
    found, (told,) = said("-N1 --mem=2G --mem-per-cpu=1G")
    assert found == requested('<NodeCount>1</NodeCount><Memory units="GB">2</Memory>')
    assert told.message == "--mem-per-cpu=1G does not count: sbatch refuses it beside --mem"


@pytest.mark.parametrize("line", KEPT)
def test_what_has_no_place_is_kept_and_written_back_where_it_stood(line):
    (found,) = read(script("#SBATCH", ["--job-name=a", line, "--ntasks=2"]), "sbatch")
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    text = translate(found.job, "sbatch", Settings(residual=False)).text.replace('"', "")
    shown = line.replace('"', "").partition("#")[0]
    assert text.splitlines()[1:4] == [
        f"#SBATCH {each}" for each in ("--job-name=a", shown, "--ntasks=2")
    ]


def test_directives_end_with_the_first_command():
    text = b"#!/bin/bash\n# about\n\n#SBATCH -N 2\nsrun ./a.out\n#SBATCH -N 9\n"
    (found,) = read(text)
    assert found.job.requested.text("NodeCount") == "2"
    assert found.files == {"script": b"#!/bin/bash\n# about\n\nsrun ./a.out\n#SBATCH -N 9\n"}
    again = translate(found.job, "sbatch", Settings(files=found.files)).text
    assert next(iter(read(again.encode(), "sbatch"))).files == found.files


def test_variables_before_a_script_of_the_job_stay_variables():
    job = loads(
        "<Job><Id>1</Id><Executable>#My%20Script</Executable>"
        "<Environment><Variable name='A'>x\ny</Variable></Environment></Job>"
    )
    files = {"My Script": b"#!/usr/bin/perl\nprint 1;\n"}
    text = translate(job, "sbatch", Settings(files=files)).text
    assert text.startswith("#!/usr/bin/perl\n")
    (back,) = read(text.encode(), "sbatch")
    assert (back.files, back.findings) == (files, ())
    assert back.job["Environment"].children[0].text == "x\ny"


def test_an_option_that_stands_twice_is_kept_once():
    (found,) = read(script("#SBATCH", ["--mail-type=BEGIN,FAIL"] * 2), "sbatch")
    kept = [item.text for item in found.job.properties if item.name == "Extension"]
    assert kept == ["FAIL"]


def test_nodes_that_are_not_wanted_are_one_list():
    """Of two options --exclude the last one counts."""
    unwanted = '<Node op="NE">n1</Node><Node op="NE">n3</Node>'
    assert directives(requested(unwanted)) == ["--exclude=n[1,3]"]


# fmt: off
APPROXIMATED = [
    (requested('<Processors op="GE">2</Processors><Processors op="LE">4</Processors>'), ["--ntasks=2"], "least of a range"),
    (requested('<Memory units="KB">1500</Memory>'), ["--mem=2M"], "2 MB, rounded up"),
    (requested('<NodeCount op="GE">2</NodeCount>'), ["--nodes=2"], "exactly the least"),
    (requested('<NodeCount>3</NodeCount><Memory units="MB">100</Memory>'), ["--nodes=3", "--mem=34M"], "34 MB, rounded up"),
    ('<TaskCount>4</TaskCount>' + requested("<Processors>6</Processors>"), ["--ntasks=4", "--cpus-per-task=2"], "4 tasks of 2 processors: 8"),
]
# fmt: on


@pytest.mark.parametrize(("inner", "lines", "reason"), APPROXIMATED)
def test_numbers_are_rounded_toward_safety_and_told(inner, lines, reason):
    assert directives(inner) == lines
    losses = translate(loads(JOB.format(inner)), "sbatch").losses
    told = [loss for loss in losses if loss.done is Done.APPROXIMATED]
    assert all(reason in loss.reason for loss in told)
    assert told


@pytest.mark.parametrize(("scope", "lines"), [
    ("job", ["--mem=2G"]), ("node", ["--mem=4G"]), ("task", ["--mem-per-cpu=2G"]),
])  # fmt: skip
def test_whose_memory_it_is_the_caller_decides_and_the_arithmetic_is_told(scope, lines):
    inner = "<TaskCount>4</TaskCount>" + requested(
        '<NodeCount>2</NodeCount><Processors>8</Processors><Memory units="GB">4</Memory>'
    )
    assert directives(inner, memory_scope=scope)[3:] == lines
    losses = translate(loads(JOB.format(inner)), "sbatch", Settings(memory_scope=scope)).losses
    assert [loss for loss in losses if loss.done is Done.CONVERTED] or scope == "node"


# fmt: off
REFUSED = [
    ('<Dependency condition="OnExit" code="3">7</Dependency>', "nothing waits for an exit code"),
    ("<Dependency>stage</Dependency>", "no id of a job of this system"),
    ("<Interactive>true</Interactive>", "a batch job has no terminal: call salloc"),
    (requested("<Swap>5</Swap>"), "there is no option for it"),
    (requested('<Node aggregation="Pattern">n.*</Node>'), "a pattern has no place, only names"),
    (requested('<Node aggregation="List" count="1">a,b</Node>'), "only some of the nodes are wanted, and all would be given"),
    (requested('<Resource name="fpga">1</Resource>'), "it is neither a GPU nor a License"),
    (requested("<Memory>0</Memory>"), "it is no number above 0"),
    (requested("<Duration>0</Duration>"), "it is no number above 0"),
    (requested("<NodeCount>0</NodeCount>"), "it is no number above 0"),
    ("<Queue>a b</Queue>", "'a b' is not a text without blanks"),
    ("<Name>a\n#SBATCH --uid=0</Name>", "'a\\n#SBATCH --uid=0' is not a text without line ends and U+0000, which a directive can hold"),
    ("<OutputFile>a&#13;b</OutputFile>", "'a\\rb' is not a text without line ends and U+0000, which a directive can hold"),
    ("<InitialWorkingDirectory>/a\nb</InitialWorkingDirectory>", "'/a\\nb' is not a text without line ends and U+0000, which a directive can hold"),
    ('<Extension type="sbatch" name="--x&#10;#SBATCH --uid=0">1</Extension>', "'--x\\n#SBATCH --uid=0' is not a text without line ends and U+0000, which a directive can hold"),
]
# fmt: on


@pytest.mark.parametrize(("inner", "reason"), REFUSED)
def test_what_has_no_option_is_told_and_refuses_a_job_that_says_reject(inner, reason):
    job = loads(JOB.format(inner))
    losses = [loss for loss in translate(job, "sbatch").losses if not loss.fact]
    assert [loss.reason for loss in losses] == [reason]
    assert losses[0].done is Done.RESIDUAL
    assert "uid" not in "".join(directives(inner))
    comes_back(job, "sbatch")
    with pytest.raises(Untranslatable) as refused:
        translate(
            loads(JOB.replace("<Job>", '<Job awarenessPolicy="Reject">').format(inner)), "sbatch"
        )
    assert [loss.reason for loss in refused.value.losses if loss.refuses] == [reason]


@pytest.mark.parametrize(
    "inner",
    ["", "<Executable/>", "<Executable>#x</Executable>", "<Executable>http://x/y</Executable>"],
)
def test_a_job_without_a_program_on_the_nodes_is_no_script(inner):
    with pytest.raises(InvalidValue):
        translate(loads(f"<Job><Id>1</Id>{inner}</Job>"), "sbatch")


@pytest.mark.parametrize(("line", "told"), [
    ("--constraint=a --prefer=b", "--prefer b"), ("--constraint=[a|b] --prefer=c", "--prefer c"),
])  # fmt: skip
def test_a_preference_that_would_leave_the_constraint_out_is_kept_as_it_is(line, told):
    _, findings = said(line)
    assert [each.message for each in findings if each.message.startswith(f"{told} is kept")]


@pytest.mark.parametrize("inner", [
    '<Feature group="1">a</Feature><Feature conj="Or" group="-1" op="NE">b</Feature>',
    '<Feature group="1">a</Feature><Processors conj="Or" group="-1">4</Processors>',
    '<Feature group="1">a b</Feature><Feature conj="Or" group="-1">b</Feature>',
    '<Node op="NE">a b</Node>', '<Queue group="1">a,b</Queue><Queue conj="Or" group="-1">c</Queue>',
    '<Feature preference="-1">a b</Feature>', '<Feature aggregation="Pattern" op="NE">a.</Feature>',
    '<Node aggregation="Pattern" op="NE">n.</Node>',
])  # fmt: skip
def test_what_no_option_can_say_of_a_choice_is_told(inner):
    job = loads(JOB.format(requested(inner)))
    losses = translate(job, "sbatch").losses
    assert [loss for loss in losses if "Requested" in loss.path]
    comes_back(job, "sbatch")


def test_a_choice_is_one_script_however_many_ways_there_are_to_meet_it():
    from sssjob.document.sources import NamedSource
    from sssjob.verbs.translate import TranslationTask, run

    choice = '<Feature group="1">a</Feature><Feature conj="Or" group="-1">b</Feature>'
    counts = '<Processors group="1">4</Processors><Processors conj="Or" group="-1">8</Processors>'
    for inner, number in ((choice, 1), (choice + counts, 2)):
        data = JOB.format(requested(inner)).encode()
        work = TranslationTask("sbatch", every=True)
        assert len([*run(work, iter((NamedSource("job.xml", io.BytesIO(data)),)))]) == number


def test_every_alternative_is_a_script_and_the_best_one_tells_of_the_others():
    job = loads(JOB.format(requested(
        '<Processors preference="1">4</Processors><Processors preference="3">8</Processors>'
        '<Feature preference="-1">ib</Feature>'
    )))  # fmt: skip
    best, losses = translate(job, "sbatch")
    assert "#SBATCH --ntasks=8" in best
    assert "#SBATCH --prefer=ib\n" in best
    assert {loss.reason for loss in losses if "Requested" in loss.path} == {
        "of another alternative, which is not written",
    }  # fmt: skip
    assert "#SBATCH --ntasks=4" in translate(job, "sbatch", alternative=1).text
    comes_back(job, "sbatch")


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]))))
def test_sbatch_reads_what_is_quoted_for_it(words):
    assert split(" ".join(map(quote, words))) == words


@given(
    st.lists(
        st.sampled_from(BOTH + [(inner, ()) for inner, _ in REFUSED]),
        unique_by=lambda case: case[0].split(">")[0].split()[0],
    )
)
def test_any_of_them_together_come_back(cases):
    comes_back(loads(JOB.format("".join(inner for inner, _ in cases))), "sbatch")


LINES = (
    [line for _, lines in BOTH for line in lines]
    + [line for lines, _ in READ for line in lines]
    + KEPT
)


@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_what_is_read_and_written_means_the_same(lines):
    assume(sum("--mem" in line for line in lines) < 2)  # which exclude each other
    (first,) = read(script("#SBATCH", lines), "sbatch")
    text = translate(first.job, "sbatch", Settings(residual=False)).text
    (second,) = read(text.encode(), "sbatch")
    assert said_by(second.job) == said_by(first.job), text


def said_by(job):
    """The items of a job but for the order in which options stood."""
    return sorted(
        repr(item) for item in job.items if getattr(item, "attributes", {}).get("name") != "order"
    )


def test_an_array_is_kept_or_becomes_jobs_that_know_their_index():
    text = script("#SBATCH", ["--array=1-5:2,9%2", "--job-name=a"])
    (kept,) = read(text, "sbatch")
    assert "#SBATCH --array=1-5:2,9%2\n" in translate(kept.job, "sbatch").text
    found = list(read(text, "sbatch", Settings(arrays="jobs")))
    indices = [each.job["Environment"].children[0] for each in found]
    assert [(item.attributes["name"], item.text) for item in indices] == [
        ("SLURM_ARRAY_TASK_ID", index) for index in ("1", "3", "5", "9")
    ]
    assert "--array" not in translate(found[0].job, "sbatch").text


@pytest.mark.parametrize("array", ["1-", "5-1", "1-3:0", "x", "0-999999999"])
def test_an_array_that_has_no_elements_to_list_is_kept(array):
    (found,) = read(script("#SBATCH", [f"--array={array}"]), "sbatch", Settings(arrays="jobs"))
    assert f"--array={array}" in translate(found.job, "sbatch").text


def test_what_is_kept_is_told_with_its_line_and_written_back_as_it_was():
    lines = [
        "-J a",
        "--mail-type=FAIL,END --mail-user=a@b.c",
        "--array=1-9",
        "-t tomorrow",
        "-N1 x",
    ]
    text, findings = said_by_script("#SBATCH", lines, "sbatch")
    assert [each.line for each in findings] == [6, 3, 4, 5, 6]
    assert '<NotificationList uri="mailto:a@b.c">JobEnd</NotificationList>' in text
    assert '<Extension type="sbatch" name="--mail-type">FAIL</Extension>' in text
    (found,) = read(script("#SBATCH", lines), "sbatch")
    written = translate(found.job, "sbatch").text
    assert "#SBATCH --mail-type=END,FAIL\n#SBATCH --mail-user=a@b.c\n" in written
    assert written.count("--mail-type") == 1
    (again,) = read(written.encode(), "sbatch")
    assert canon(again.job) == canon(found.job)


@pytest.mark.parametrize("value", ["ALL,FAIL", "NONE,END", "FAIL"])
def test_a_list_of_events_that_cannot_be_said_is_kept_whole(value):
    text, _ = said_by_script("#SBATCH", [f"--mail-type={value}"], "sbatch")
    assert text == f'<Extension type="sbatch" name="--mail-type">{value}</Extension>'


PLACED = '<TaskDistribution type="Geometry">{1,3}{2}</TaskDistribution>'
ON = requested('<Node aggregation="List">n1,n2</Node>')


def test_a_geometry_on_named_nodes_names_the_node_of_each_task():
    found = options_of(PLACED + ON, "sbatch")
    assert found == ["--nodes=2", "--ntasks=3", "--distribution=arbitrary", "--nodelist=n1,n2,n1"]
    text, findings = said_by_script("#SBATCH", found, "sbatch")
    assert '<TaskDistribution type="Geometry">{0,2}{1}</TaskDistribution>' in text
    assert '<Node aggregation="Range">n[1-2]</Node>' in text
    assert findings == ()
    assert comes_back(loads(wrapped(PLACED + ON)), "sbatch")


def test_a_geometry_of_nodes_without_names_is_told():
    (loss,) = losses_of(PLACED, "sbatch")
    assert (loss.path, loss.reason) == (
        "/Job/TaskDistribution",
        "only how many tasks and nodes there are",
    )


@pytest.mark.parametrize(
    "lines", [["--distribution=arbitrary"], ["--distribution=arbitrary", "--nodelist=n[1-2]"]]
)
def test_an_arbitrary_distribution_without_a_node_for_each_task_is_kept(lines):
    text, findings = said_by_script("#SBATCH", lines, "sbatch")
    assert "TaskDistribution" not in text
    assert [each.code for each in findings] == ["W-UNKNOWN"] * len(lines)


def test_an_open_mode_without_a_file_is_kept_and_told():
    (found,) = read(b"#!/bin/sh\n#SBATCH --open-mode=append\nexec /bin/true\n", "sbatch")
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    text = translate(found.job, "sbatch", Settings(residual=False)).text
    assert "#SBATCH --open-mode=append\n" in text


@pytest.mark.parametrize("value", ["gpu:", "gpu::2", "gpu:a100:"])
def test_gpus_with_an_empty_type_or_number_are_kept_and_told(value):
    (found,) = read(f"#!/bin/sh\n#SBATCH --gres={value}\nexec /bin/true\n".encode(), "sbatch")
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]
    text = translate(found.job, "sbatch", Settings(residual=False)).text
    assert f"#SBATCH --gres={value}\n" in text
