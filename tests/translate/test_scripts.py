# ruff: noqa: E501 (a case is a line)
"""No text of a job becomes a line of its script, and a shell gets each text as it is."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from sssjob import registry
from sssjob.document import loads
from sssjob.errors import InvalidJob, InvalidValue
from sssjob.model import Job, Property, Requested, TaskGroup
from sssjob.submission.at_once import submission
from sssjob.translate import Settings, Untranslatable, read, translate
from sssjob.translate.quoting import exported, read_exported, read_run, run

SCRIPTS = ("sge", "lsf", "pbs", "torque", "sbatch")
SHELLS = ("sh", "bash", "dash")
SHOW = "import os,sys;sys.stdout.buffer.write(os.fsencode(chr(0).join(sys.argv[1:]+[os.environ['A']])))"
TEXTS = some.text(
    some.sampled_from("\n\r\v\f\x1c\x85\u2028\t _-%\\'\"`$#!;0128nxé\x7f\x01(){}"), max_size=12
)
TOLD = "#$ -l h_rt=9 #BSUB -q x"
MARK = re.compile(r"[\s]*(#\$ -l h_rt=9 #BSUB -q x|MARK)")
LINES = re.compile(r"[\n\r\v\f]")
PLACES = (
    "Id", "Name", "Project", "Queue", "QualityOfService", "Partition", "Machine", "Reservation",
    "Shell", "InitialWorkingDirectory", "InputFile", "OutputFile", "ErrorFile", "Feature",
    "NotificationList", "Executable", "Arguments", "Dependency", "Comment", "Description", "Odd",
    "Priority", "StartTime", "User", "Group", "ResourceManagerType", "Checkpoint",
)  # fmt: skip
IN_XML = ("\n", "\r", "\r\n", "\n \t")


def jobs(text):
    """Jobs that hold a text in one place each."""
    runs = Property("Executable", "/bin/true")
    for name in PLACES:
        items = (Property("Id", "1"), runs, Property(name, text))
        yield Job(tuple(each for each in items[:2] if each.name != name) + items[2:])
    for value in (text, f"/a{text}", f"'{text}'"):
        yield Job((Property("Id", "1"), Property("Executable", value)))
        yield Job((Property("Id", "1"), runs, Property("Arguments", value)))
    for name, value in (("A", text), (text, "a"), (f"A{text}", text)):
        variable = Property("Variable", value, {"name": name})
        yield Job((Property("Id", "1"), runs, Property("Environment", text, {}, (variable,))))
    for target in SCRIPTS:
        for name, value in (("-x", text), (f"-x{text}", ""), ("order", text)):
            kept = Property("Extension", value, {"type": target, "name": name})
            yield Job((Property("Id", "1"), runs, kept))
    yield Job((Property("Id", "1"), runs), {"odd": text})
    for name in ("Feature", "Node", "Queue", "Architecture"):
        for terms in (
            (Property(name, text), Property(name, "b", {"conj": "Or"})),
            (Property(name, "b"), Property(name, text, {"conj": "Or"})),
            (Property(name, text, {"op": "NE"}),), (Property(name, text, {"preference": "-1"}),),
            (Property(name, text, {"aggregation": "Pattern"}),),
            (Property(name, f"b,{text}", {"aggregation": "List", "op": "NE"}),),
        ):  # fmt: skip
            yield Job((Property("Id", "1"), runs, Requested(terms)))
    for kind, name in (("array", "indices"), ("array", text)):
        array = Property("Extension", text, {"type": kind, "name": name})
        yield Job((Property("Id", "1"), runs, TaskGroup((Property("TaskCount", 2), array))))
        yield Job((Property("Id", "1"), runs, array))
    geometry = Property("TaskDistribution", f"{{1}}{{2{text}}}", {"type": "Geometry"})
    yield Job((Property("Id", "1"), runs, geometry))


def lines_of(text):
    return LINES.split(text)


def made(job, target):
    try:
        return translate(job, target, Settings(unstated="Ignore")).text
    except (InvalidValue, Untranslatable):
        return ""


@pytest.mark.parametrize("end", IN_XML)
@pytest.mark.parametrize("told", [TOLD, "MARK"])
@pytest.mark.parametrize("target", [*SCRIPTS, "condor", "dagman", "slurmrest"])
def test_no_line_of_a_script_begins_with_a_text_of_a_job(target, told, end):
    written = 0
    for job in jobs(f"a{end}{told}"):
        text = made(job, target)
        written += bool(text)
        assert not [line for line in lines_of(text) if MARK.match(line)], text
    assert written > 10


@pytest.mark.parametrize("end", IN_XML)
@pytest.mark.parametrize(
    "system", [n for n, row in registry.all_systems().items() if row.submission]
)
def test_no_line_of_a_script_that_is_submitted_begins_with_a_text_of_a_job(system, end):
    written = 0
    for job in jobs(f"a{end}MARK"):
        try:
            text = submission(job, system).script
        except (InvalidJob, InvalidValue):
            continue
        written += 1
        assert not [line for line in lines_of(text) if MARK.match(line)], text
    assert written


def ran(shell, script):
    return subprocess.run(
        [shell], input=script.encode(), capture_output=True, check=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
    ).stdout.decode()  # fmt: skip


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("value", [
    "x\n#$ -l h_rt=9", "\n", "\n\n", "a\n_", "-n\n", "\r", "a\r\n", "%s\n%%", "\\n\n\\012", "é\n\u2028\x85",
    "'\n\"`$(id)`", "a\n1", "!\n#", "{}\n${1%_}", "\x01\x7f\n", "\v\f",
])  # fmt: skip
def test_a_shell_gets_each_text_as_it_is(shell, value):
    words = ["python3", "-c", SHOW, value, "a'b", *[f"{value}{n}" for n in range(11)], value]
    script = f"{exported('A', value)}\n{run(words)}\n"
    assert ran(shell, script).split("\0") == [*words[3:], value]
    assert script.count("\n") == 2


@given(value=TEXTS, more=TEXTS)
@example(value="\n", more="${1%_}")
@example(value="a\n", more='"${1%_}"')
@example(value="a\n", more="'\"${1%_}\"'")
def test_a_line_is_read_as_what_was_written(value, more):
    assert read_exported(exported_line := exported("A", value)) == ("A", value)
    assert read_run(run_line := run(["/p", value, more, value])) == ["/p", value, more, value]
    assert not LINES.search(exported_line + run_line)


@pytest.mark.parametrize("line", [
    'export A="$(printf \'\\377\\012_\')"; A=${A%_}', 'export A="$(printf \'a_\')"; B=${B%_}',
    'export A="$(printf \'%s\\012_\')"; A=${A%_}', 'export A="$(printf \'\\777_\')"; A=${A%_}',
    "export A=$(id)", "export A='a' B",
])  # fmt: skip
def test_a_line_that_is_not_ours_is_not_read(line):
    assert read_exported(line) is None


@pytest.mark.parametrize("line", [
    'set -- "$(printf \'a\\012_\')"; exec a "${2%_}"', "exec a; b", "exec a  b", "exec ", "exec a > b",
    'exec a "${1%_}"', 'set -- "$(printf \'%d\\012_\')"; exec a "${1%_}"', "exec 'a", "exec a\tb",
])  # fmt: skip
def test_a_command_that_is_not_ours_is_not_read(line):
    assert read_run(line) is None


@pytest.mark.parametrize("write", [lambda text: exported("A", text), lambda text: run(["a", text])])
@pytest.mark.parametrize("text", ["\0", "a\0\nb"])
def test_a_text_that_no_shell_can_hold_is_refused(write, text):
    with pytest.raises(InvalidValue):
        write(text)


@pytest.mark.parametrize("target", SCRIPTS)
def test_a_variable_and_an_argument_of_several_lines_come_back_without_a_residual(target):
    value = f"x\n{TOLD}\r\n"
    variable = Property("Variable", value, {"name": "A"})
    job = Job((
        Property("Id", "1"), Property("Executable", "/bin/true"), Property("Arguments", f"'{value}' b"),
        Property("Environment", "", {}, (variable,)), Property("InputFile", "/in"),
    ))  # fmt: skip
    (found,) = read(translate(job, target, Settings(residual=False)).text.encode(), target)
    (environment,) = (item for item in found.job.items if item.name == "Environment")
    assert [each.text for each in environment.children] == [value]
    assert found.job.get("Arguments") == f"'{value}' b"
    assert found.job.get("InputFile") == "/in"


@pytest.mark.parametrize("target", [*SCRIPTS, "condor"])
def test_what_is_wrong_with_a_residual_has_its_line(target):
    job = Job((
        Property("Id", "1"), Property("Executable", "/bin/true"), Property("Odd", "x" * 2000),
    ))  # fmt: skip
    lines = translate(job, target).text.split("\n")
    place = next(number for number, line in enumerate(lines, 1) if line.startswith("# sssjob: Odd"))
    assert lines[place].startswith("# sssjob+ ")
    lines[place] += "<"
    (found,) = read("\n".join(lines).encode(), target)
    assert [each.line for each in found.findings if each.code == "W-DISAGREE"] == [place]


@pytest.mark.parametrize("target", SCRIPTS)
def test_bytes_that_are_no_text_stay_in_a_script_and_are_told_of_a_directive(target):
    option = {"sbatch": "--job-name=", "lsf": "-J "}.get(target, "-N ")
    prefix = {"sbatch": "#SBATCH", "lsf": "#BSUB", "sge": "#$"}.get(target, "#PBS")
    data = (
        f"#!/bin/bash\n{prefix} {option}caf".encode()
        + b"\xe9\n# \xff\n"
        + f"{prefix} {'--account=' if target == 'sbatch' else '-A '}p\n".encode()
        + b"echo \xe9 '\xc3\xa9'\n"
    )
    (found,) = read(data, target)
    assert [(each.code, each.line) for each in found.findings][:1] == [("E-TYPE", 2)]
    assert found.job.get("Name") == "caf\ufffd"
    assert found.files["script"] == b"#!/bin/bash\n# \xff\necho \xe9 '\xc3\xa9'\n"
    written = translate(found.job, target, Settings(files=found.files)).text
    (again,) = read(written.encode(errors="surrogateescape"), target)
    assert again.files == found.files


@pytest.mark.parametrize("source", ["psij", "flux", "flux-canonical", "slurmrest"])
def test_a_byte_that_is_no_text_has_its_line(source):
    (found,) = read(b'{"executable": "/a",\n "name": "\xe9"}', source)
    assert [(each.code, each.line) for each in found.findings] == [("E-TYPE", 2)]


def test_a_line_of_a_submit_file_that_is_no_text_is_told_and_the_rest_goes_on():
    (found,) = read(b"executable = /a\narguments = \xe9\npriority = 5\nqueue\n", "condor")
    assert [(each.code, each.line) for each in found.findings] == [("E-TYPE", 2)]
    assert found.job.get("Priority") == "5"


@pytest.mark.parametrize(
    "source", [name for name, row in registry.all_targets().items() if row.reads]
)
@pytest.mark.parametrize("data", [b"", b"\n  \n"])
def test_nothing_is_no_job(source, data):
    assert list(read(data, source)) == []


BYTES = "surrogateescape"
BLANKS = some.text(some.sampled_from(" -=,:;|&!()[]{}'\"\\$`#*?~%@/ab1\n\r\t"), max_size=10)


@pytest.mark.parametrize("target", SCRIPTS)
@given(text=BLANKS, place=some.integers(0, 200))
@example(text=",1", place=PLACES.index("QualityOfService"))
def test_no_text_of_a_job_becomes_an_option_of_its_own(target, text, place):
    """A job has the options of its property, and no others, whatever the text is."""
    found = list(jobs(f"a{text}"))
    job = found[place % len(found)]
    written = "" if job.properties.all("Extension") else made(job, target)
    if written:
        (back,) = read(written.encode(errors=BYTES), target, Settings(residual=False))
        kept = [
            each
            for each in back.job.properties.all("Extension")
            if each.attributes["name"] != "order"
        ]
        assert len(kept) <= 1, written  # an option that is kept as it is


PYTHON = b"#!/usr/bin/env python3\nprint(1)\n"
IN_LINES = (
    '<Environment><Variable name="A">x y</Variable></Environment>',
    "<ResourceLimit name='OpenFiles'>9</ResourceLimit>",
    "<InputFile>i</InputFile>", "<InitialWorkingDirectory>/data</InitialWorkingDirectory>",
    '<Environment><Variable name="A">x</Variable></Environment>',
    '<TaskCount>3</TaskCount><TaskDistribution type="Geometry">{1,2}{3}</TaskDistribution>',
)  # fmt: skip


def python_job(inner):
    return loads(f'<Job awarenessPolicy="Warn"><Id>1</Id><Executable>#s</Executable>{inner}</Job>')


@pytest.mark.parametrize("first", ["#!/usr/bin/env python3", "#!/usr/bin/perl -w", "#!/bin/csh"])
@pytest.mark.parametrize("inner", IN_LINES)
@pytest.mark.parametrize("target", SCRIPTS)
def test_a_script_that_no_shell_reads_gets_no_lines_of_a_shell(target, inner, first):
    body = f"{first}\nprint(1)\n"
    files = Settings(files={"s": body.encode()}, residual=False)
    text, losses = translate(python_job(inner), target, files)
    lines = text.splitlines()
    assert lines[0] == first
    assert [line for line in lines[1:] if not line.startswith("#")] == ["print(1)"]
    name = loads(f"<Job>{inner}</Job>").items[-1].name
    held = any(word in text for word in ("A=x", "/data", "-i i", "--input=i"))
    assert held != (name in {loss.path.rpartition("/")[2] for loss in losses})


@pytest.mark.parametrize("target", ["sbatch", "pbs", "torque", "sge"])
def test_variables_of_a_script_that_no_shell_reads_come_back(target):
    inner = '<Environment export="true"><Variable name="A">1</Variable><Variable name="B">x=/y</Variable></Environment>'
    text = translate(python_job(inner), target, Settings(files={"s": PYTHON})).text
    (found,) = read(text.encode(), target, Settings(residual=False))
    (mine,) = [item for item in found.job.items if item.name == "Environment"]
    assert mine == python_job(inner).items[-1]


@pytest.mark.parametrize(
    "first", ["#!/usr/bin/env -S bash -e", "#!/bin/bash", "#!/usr/bin/env A=1 zsh", ""]
)
def test_a_shell_by_any_path_takes_lines(first):
    files = {"s": f"{first}\ntrue\n".encode()}
    assert (
        "export A='x y'\n"
        in translate(python_job(IN_LINES[0]), "sbatch", Settings(files=files)).text
    )


def test_a_first_line_of_two_words_is_told_where_it_does_not_count():
    told = {t: [loss.path for loss in translate(python_job(""), t, Settings(files={"s": PYTHON})).losses]
            for t in SCRIPTS}  # fmt: skip
    assert [t for t, paths in told.items() if "/Job/Executable" in paths] == ["sge"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("limits, soft, hard", [
    ({"Hard": 3000}, 3000, 3000), ({"Soft": 30}, 30, None), ({"": 3000}, 3000, 3000),
    ({"Soft": 30, "Hard": 3000}, 30, 3000), ({"": 30, "Hard": 3000}, 30, 30),
    ({"Soft": 20, "": 30, "Hard": 3000}, 20, 30),
])  # fmt: skip
def test_a_shell_takes_limits_whatever_limits_it_has(shell, limits, soft, hard):
    """The usual soft limit of CPU time is none, and no hard one below it is taken."""
    asked = tuple(
        Property(
            "ResourceLimit", str(number), {"name": "CPUTime", **({"type": kind} if kind else {})}
        )
        for kind, number in limits.items()
    )
    text, _ = translate(Job((Property("Executable", "/bin/true"), *asked)), "sbatch")
    lines = [line for line in text.splitlines() if line.startswith("ulimit ")]
    ask = "ulimit -S -t; ulimit -H -t"
    before = subprocess.run([shell, "-c", ask], capture_output=True, text=True, check=True)
    found = subprocess.run(
        [shell, "-ec", "\n".join([*lines, ask])], capture_output=True, text=True, check=True
    )
    none = before.stdout.split()[1]
    assert found.stdout.split() == [str(soft), none if hard is None else str(hard)]
    (back,) = read(text.encode(), "sbatch", Settings(residual=False))
    kept = back.job.properties.all("ResourceLimit")
    assert {each.attributes.get("type", ""): int(each.text) for each in kept} == limits


ASKED = "import resource as r; print(*(n for k in (r.RLIMIT_FSIZE, r.RLIMIT_CORE) for n in r.getrlimit(k)))"


@pytest.mark.parametrize("shell", ["", "/bin/sh", "/bin/bash", "/bin/dash"])
@pytest.mark.parametrize("kind", ["", "Hard"])
def test_sizes_of_files_are_limited_in_the_units_of_the_shell(tmp_path, shell, kind):
    """Bash, but under the name of sh, counts in 1024 bytes, and each other shell in 512."""
    attributes = {"type": kind} if kind else {}
    items = [
        Property("Executable", sys.executable), Property("Arguments", shlex.join(["-c", ASKED])),
        *([Property("Shell", shell)] if shell else []),
        *(Property("ResourceLimit", "1024000", {"name": name, **attributes})
          for name in ("FileSize", "CoreFileSize")),
    ]  # fmt: skip
    text, losses = translate(Job(tuple(items)), "sbatch", Settings(residual=False))
    assert "ResourceLimit" not in {loss.path.rpartition("/")[2] for loss in losses}
    (tmp_path / "script").write_text(text)
    done = subprocess.run(
        [shell or "/bin/sh", str(tmp_path / "script")], capture_output=True, text=True, check=True
    )
    found = done.stdout.split()
    assert (found[0], found[2]) == ("1024000", "1024000")
    assert not kind or found == ["1024000"] * 4
    (back,) = read(text.encode(), "sbatch", Settings(residual=False))
    assert {each.text for each in back.job.properties.all("ResourceLimit")} == {"1024000"}


LIMITS = ("FileSize", "CoreFileSize", "StackSize", "VirtualMemory", "LockedMemory", "OpenFiles", "CPUTime")  # fmt: skip


@pytest.mark.parametrize("target", ["sbatch", "pbs", "sge", "lsf", "jsdl"])
@pytest.mark.parametrize("text", ["-1", "-5e9", "unlimited", str(1 << 63), str((1 << 64) + 100)])
def test_what_no_kernel_takes_for_a_limit_is_no_limit_and_told(target, text):
    """Of -1 and of 2^64 a shell makes a limit of 0, which nothing can run with."""
    items = [Property("ResourceLimit", text, {"name": name}) for name in LIMITS]
    named, without = (
        translate(Job((Property("Executable", "/bin/true"), *more)), target, Settings(residual=False))
        for more in (items, ())
    )  # fmt: skip
    assert named.text == without.text
    told = [loss.path for loss in named.losses if loss.done == "dropped"]
    assert told.count("/Job/ResourceLimit") == len(LIMITS)


def test_of_several_limits_each_is_told_with_its_own_rounding():
    asked = {"FileSize": "1000000", "CPUTime": "600", "LockedMemory": "9999999"}
    items = [Property("ResourceLimit", text, {"name": name}) for name, text in asked.items()]
    losses = translate(Job((Property("Executable", "/bin/true"), *items)), "sbatch").losses
    assert [(loss.value, loss.reason) for loss in losses if "Limit" in loss.path] == [
        ("1000000", "1954 blocks of 512 bytes, rounded up"), ("9999999", "9766 KB, rounded up"),
    ]  # fmt: skip
