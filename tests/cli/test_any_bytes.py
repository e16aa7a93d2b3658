"""Every command and every kind of garbage: an exit code of its help, and never a traceback.

They run through ``main``, as a shell runs them: what it answers for all commands counts, too.
"""
# ruff: noqa: E501 (a row of a table is a line)

import io
import os
import random
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

import draws
import pytest
from command_tree import commands

from sssjob import cli, store

COMMAND = Path(sys.executable).with_name("sssjob")
EXIT_CODES = range(5)

JOB = (
    "<Job><Id>1</Id><State>Completed</State><Delivered><Processors>4</Processors></Delivered></Job>"
)
SACCT = "JobID|JobName|User|State|ElapsedRaw|NCPUS|Start|End\n"
CHANCE = random.Random(22)
# fmt: off
GARBAGE = {
    "nothing":              b"",
    "a NUL":                b"\0",
    "random bytes":         CHANCE.randbytes(4000),
    "random letters":       bytes(CHANCE.choices(b"<>/='\"&;[]{}()|,:\\\n\t aJob019.-+_#@", k=4000)),
    "random lines":         b"\n".join(bytes(CHANCE.choices(b"ab=|,:;-1", k=20)) for _ in range(300)),
    "a document":           JOB.encode(),
    "half a document":      JOB[:60].encode(),
    "half a tag":           JOB[:52].encode(),
    "NULs in a document":   JOB.replace("1", "\0").encode(),
    "deep XML":             b"<Job>" * 5000,
    "deep XML with an end": b"<Job>" * 5000 + b"</Job>" * 5000,
    "deep JSON":            b"[" * 20000,
    "deep objects":         b'{"a":' * 20000 + b"1" + b"}" * 20000,
    "deep brackets":        b"(" * 20000,
    "deep ClassAds":        b"a = " + b"{[b = " * 3000,
    "a huge name":          b"<" + b"a" * 200_000 + b"/>",
    "a huge value":         JOB.replace("4", "4" * 200_000).encode(),
    "a huge line":          b"x" * 200_000,
    "a huge number":        b'{"jobs": [{"job_id": ' + b"9" * 5000 + b"}]}",
    "many attributes":      b"<Job " + b" ".join(b'a%d="1"' % i for i in range(2000)) + b"/>",
    "UTF-16":               JOB.encode("utf-16"),
    "UTF-16, cut":          JOB.encode("utf-16")[:81],
    "Latin-1, undeclared":  JOB.replace("1", "\xfc").encode("latin-1"),
    "another encoding":     b'<?xml version="1.0" encoding="UTF-7"?>' + JOB.encode(),
    "no such encoding":     b'<?xml version="1.0" encoding="no-such"?>' + JOB.encode(),
    "a lone surrogate":     JOB.replace("1", "\ud800").encode("utf-8", "surrogatepass"),
    "controls":             JOB.replace("1", "\x9b31m\u202e\u2028").encode(),
    "an undeclared prefix": b"<Job><u:x>1</u:x></Job>",
    "a foreign namespace":  b'<Job xmlns="urn:other"><Id>1</Id></Job>',
    "an illegal namespace": b'<Job xmlns:x="http://[bad\\ x"><x:Id>1</x:Id></Job>',
    "a document type":      b"<!DOCTYPE Job [<!ENTITY a 'b'>]><Job>&a;</Job>",
    "a leap second":        JOB.replace("<State>", "<EndTime>2016-12-31T23:59:60Z</EndTime><State>").encode(),
    "a negative duration":  JOB.replace("<Processors>4</Processors>", "<SuspendDuration>-1</SuspendDuration>").encode(),
    "gzip, cut":            b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"\xab" * 20,
    "zstd, cut":            b"\x28\xb5\x2f\xfd" + b"\xab" * 20,
    "records, cut":         (SACCT + "1|a|u|COMPLETED|").encode(),
    "bad records":          (SACCT + "1|\0|\x1b[2J|\u202e|-1|1e400|NaN|9999-99-99T99:99:99\n").encode(),
    "late times":           (SACCT + "1|a|u|COMPLETED|1|1|9999-12-31T23:59:59|99999999999999999999\n").encode(),
    "a continued option":   b"[Main]\nvomap\n  a : b\n",
    "only sections":        b"[Main]\n[ ]\n[]\n[Main]\n",
    "TOML":                 b"a = 1\n[a]\nb = 2\n",
    "TOML of a huge exponent": b"a = 1e-9999999999999999999\n",
    "TOML of many digits":  b"a = " + b"9" * 5000 + b"\n",
    "numbers":              b"1e400 -0 NaN 0x1 1_0 " * 50,
}
# What each command is called with; @ is the garbage, the other words in capitals are good.
CALLS = """
validate @
validate --format json @
validate --format sarif @
validate --closed @
show @
show --json @
show --effective @
query Id @
query --csv //Id @
query --json //* @
query --xml //* @
query --whole //Job @
query --columns Id,State Id @
query --xpath 3.1 Id @
query --xpath 3.1 //Id @
store import STORE @
store query Id @
store export @
store log @
store stats @
store check @
convert --from auto @
convert --from auto --to ur @
convert --from auto --to apel @
convert --from FORMAT @
status @
translate --to sbatch @
translate --from sbatch --to sss @
translate --from sss --to condor @
features job --dry-run @
features job --dry-run --site @ GOOD
features machine --dry-run --no-host --job @
features machine --dry-run --no-host --site @
features show --job @
features pilots @
deliver @ --record RECORDS
deliver GOOD --record @
deliver GOOD --features @
submit --to slurm --dry-run @
submit --to flux --dry-run --where //Job @
submit --to condor @
cancel @
cancel --to slurm @
hold --to lsf --select 1 @
release --to pbs --global-id x @
report @
report --from auto @
report --by user @
audit --gaps @
ledger ingest LEDGER @
ledger ingest --workers 2 LEDGER @
send --outbox DIRECTORY @
audit --against @ GOOD
audit --json @
graph @
graph --dot @
match @ --offers OFFERS
match GOOD --offers @
explain @
alternatives @
layout @
place @ --offers OFFERS --no-solver
place GOOD --offers @ --no-solver
profile @
lcginfo lrms @
lcginfo lrms --from sss @
lcginfo lrms --from slurm @
lcginfo lrms --from pbs @
lcginfo jobs @
lcginfo caps --from slurm @
lcginfo check -c @
lcginfo run -c @
lcginfo estimate --lrms @
lcginfo estimate -c @
lcginfo backtest @
request --key-file @ --to localhost:1 Query Job
request Create Job --data @ --to localhost:1
serve --config @ --check
condor ad @
condor job @
condor eval 1 --my @
condor why @ JOBAD
condor check @
condor why JOBAD @
condor features --job-ad @
condor features --job-ad JOBAD --machine-ad @
transform keep @
transform @ GOOD
repair @
report --names @ GOOD
report --factors @ GOOD
report --rates @ GOOD
canon @
diff @ GOOD
"""
# fmt: on
FORMATS = (
    "condor",
    "flux",
    "sge",
    "lsf",
    "pbs",
    "slurm",
    "slurm-json",
    "slurm-jobcomp",
    "blah",
    "apel",
    "car",
    "ur",
    "swf",
    "sss",
    "lrmsinfo",
)  # fmt: skip
GOOD = {
    "GOOD": JOB,
    "OFFERS": '[{"id": "n1", "Processors": 64}]',
    "RECORDS": "JobID|State|ElapsedRaw|NCPUS\n",
    "JOBAD": "RequestCpus = 4\n",
}
SHOWN = tuple(
    line.replace("FORMAT", each)
    for line in CALLS.strip().splitlines()
    for each in (FORMATS if "FORMAT" in line else ("",))
)
# Commands that read nothing of a caller, or whose files are others.
OTHERS = {
    "store": "those of the table stand for what reads a store",
    "ledger": "the others read what ingest made",
    "browse": "it serves until it is stopped; what it reads is read as by store import",
    "features": "the others read the machine, directories and batch systems",
    "conformance": "it reads the cases of the standard",
    "completion": "it reads nothing",
    "schema": "it reads nothing",
    "config": "it reads the file of defaults, and has tests of its own",
    "demo": "it reads the examples",
    "examples": "it reads the examples",
    "condor": "the others are called by HTCondor, and have tests of their own",
}


def test_every_command_is_here():
    called = [line.split() for line in SHOWN]
    for name, _ in commands(cli.sssjob):
        is_here = any(words[: len(name)] == list(name) for words in called)
        assert is_here or name[0] in OTHERS, f"{name}: no row in CALLS, and no reason in OTHERS"


@pytest.fixture
def run(tmp_path, monkeypatch):
    for name, text in GOOD.items():
        (tmp_path / name).write_text(text)

    def run(line, garbage, terminal=False):
        if "STORE" in line:
            with store.open(tmp_path / "STORE", create=True) as jobs, jobs.change() as work:
                work.put(b"<Job><Id>1</Id></Job>")
        (tmp_path / "@").write_bytes(garbage)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        monkeypatch.setattr(sys, "argv", ["sssjob", *line.split()])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(garbage)))
        written, said = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        if terminal:
            written.isatty = said.isatty = lambda: True
        monkeypatch.setattr(sys, "stdout", written)
        monkeypatch.setattr(sys, "stderr", said)
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        shown = []
        for stream in (written, said):
            if not stream.closed:
                stream.flush()
            shown.append(
                "" if stream.closed else stream.buffer.getvalue().decode("utf-8", "replace")
            )
        return code, *shown

    return run


@pytest.mark.parametrize("line", SHOWN)
def test_a_line_of_the_table_has_the_words_that_its_command_takes(line, run):
    assert "Usage:" not in run(line, JOB.encode())[2]


# One line for each reader of bytes, and every format of records, meets all kinds of garbage.
READERS = (
    "validate @", "show --json @", "query Id @", "query --whole //Job @", "query --xpath 3.1 Id @",
    "store import STORE @", "store query Id @", "convert --from ", "status @",
    "translate --from sbatch ", "features machine --dry-run --no-host --site @", "features pilots @",
    "audit --gaps @", "ledger ingest LEDGER @", "match GOOD --offers @", "lcginfo lrms --from pbs @",
    "lcginfo check -c @", "lcginfo estimate --lrms @", "request --key-file @", "serve --config @",
    "condor ad @", "condor why JOBAD @", "transform @ GOOD", "repair @", "report --names @ GOOD",
    "report --factors @ GOOD", "report --rates @ GOOD",
)  # fmt: skip
ALWAYS = ("nothing", "random bytes", "half a document")
ONE_IN = draws.share(6)


def met(line):
    """The kinds that a line meets: all as a reader; else these, and of the others one in so many.

    The next line meets the next ones, so that each kind meets many commands. A run that explores
    takes all of all lines.
    """
    if line.startswith(READERS):
        return list(GARBAGE)
    others = [name for name in GARBAGE if name not in ALWAYS]
    return [*ALWAYS, *others[SHOWN.index(line) % ONE_IN :: ONE_IN]]


def test_each_kind_of_garbage_meets_many_commands_and_every_reader():
    words = {line.split()[0] for line in SHOWN}
    for name in GARBAGE:
        found = [line for line in SHOWN if name in met(line)]
        assert all(any(line.startswith(each) for line in found) for each in READERS), name
        assert len(found) > len(SHOWN) // 3, name
        assert len({line.split()[0] for line in found}) > len(words) // 2, name


@pytest.mark.explore
@pytest.mark.parametrize("line", SHOWN)
def test_any_bytes_give_an_exit_code_and_lines(line, run):
    for name in met(line):
        code, _, said = run(line, GARBAGE[name])
        assert code in EXIT_CODES, (name, code)
        assert "Traceback" not in said, (name, said)


STEERING = "\x9b31m\u202e\u2028\u200b"
HOSTILE = (
    f"<Job><Id>1{STEERING}</Id><User>{STEERING}</User><State>Running</State><Name>{STEERING}</Name>"
    f"<Requested><Processors>4</Processors><Memory op='{STEERING}'>1</Memory><Node>{STEERING}</Node>"
    f"</Requested><Dependency>{STEERING}</Dependency><x:y xmlns:x='{STEERING}'>{STEERING}</x:y>"
    f"<Extension name='{STEERING}'>{STEERING}</Extension></Job>"
).encode()
ESCAPED = f"1|\x1b[2J{STEERING}|\x07|COMPLETED|60|4|2026-01-01T00:00:00|2026-01-01T00:01:00\n"
STEERED = {
    "a document": HOSTILE,
    "records": (SACCT + ESCAPED).encode(),
    "an ad": f'ClusterId = 1\nOwner = "\x1b[2J{STEERING}"\nIwd = "{STEERING}"\n'.encode(),
    "broken": f"<Job><Id>{STEERING}\x1b]0;x\x07</Ib>".encode(),
    "TOML": f"{STEERING} = '\x1b[2J'".encode(),
    "JSON": b'[{"id": "a\\u001b[2J\\u202e", "Processors": 64, "\\u009b": "\\u2028"}]',
}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("line", [*SHOWN, "report --csv --raw @", "graph --svg @"])
def test_no_output_of_a_command_steers_a_terminal(line, run):
    for name, garbage in STEERED.items():
        written, said = run(line, garbage, terminal=True)[1:]
        shown = COLOUR.sub("", written + said)
        steering = [each for each in shown if each not in "\n\t" and hidden(each)]
        assert not steering, (name, shown)


def hidden(letter):
    return unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp")


LETTERS = "<Job><Id>\xfc\u20ac\U0001f600</Id><State>Completed</State></Job>"
ASCII = [
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("environment", ASCII, ids=["PYTHONIOENCODING", "LC_ALL"])
@pytest.mark.parametrize(
    "words, shown",
    [
        ("show", "Job \\u00fc\\u20ac\\ud83d\\ude00 Completed"),
        ("query Id", "\\u00fc\\u20ac\\ud83d\\ude00"),
        ("query --csv Id", "jobs.xml,1,\\u00fc\\u20ac\\ud83d\\ude00"),
        ("query --jsonl Id", '"value": "\\u00fc\\u20ac\\ud83d\\ude00"'),
        ("query --xml Id", "<Id>&#252;&#8364;&#128512;</Id>"),
    ],
)
def test_letters_that_a_terminal_lacks_are_escaped(words, shown, environment, tmp_path):
    (tmp_path / "jobs.xml").write_text(LETTERS)
    done = subprocess.run(
        [COMMAND, *words.split(), "jobs.xml"], cwd=tmp_path, capture_output=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown in done.stdout.decode("ascii")


def test_a_name_of_a_file_that_is_no_text_is_printed(tmp_path):
    name = os.fsdecode(b"\xff.xml")
    (tmp_path / name).write_text(JOB)
    done = subprocess.run(
        [COMMAND, "query", "--csv", "Id", "."], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\udcff.xml,1,1,/Job/Id,1" in done.stdout


@pytest.fixture
def deep(tmp_path):
    """Directories in each other, more than a path may name; Python could not remove them."""
    top = tmp_path / "deep"
    top.mkdir()
    (top / "a.xml").write_text(JOB)
    handle = os.open(top, os.O_RDONLY)
    try:
        for _ in range(3000):
            os.mkdir("d", dir_fd=handle)
            inner = os.open("d", os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield top
    finally:
        os.close(handle)
        subprocess.run(["rm", "-rf", top], check=True)


@pytest.mark.parametrize("words", ["query Id", "validate", "store import ../jobs.db"])
def test_directories_in_directories_without_end(words, deep):
    store.open(deep.parent / "jobs.db", create=True).close()
    done = subprocess.run(
        [COMMAND, *words.split(), "."], cwd=deep, capture_output=True, text=True, check=False
    )
    assert done.returncode in EXIT_CODES
    assert "Traceback" not in done.stderr


def test_an_error_that_nobody_expects_is_one_line(tmp_path, monkeypatch, capsys):
    for error in (MemoryError(), RecursionError(), OSError(28, "No space left", "file")):

        def raising(_, error=error, **__):
            raise error

        monkeypatch.setattr(cli.sssjob, "invoke", raising)
        monkeypatch.setattr(sys, "argv", ["sssjob", "validate", "x"])
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr().err
        assert (end.value.code, said.count("\n")) == (2, 1)
        assert said.startswith("sssjob: error: ")


def test_ctrl_c_ends_a_command_by_its_signal(tmp_path):
    words = [COMMAND, "convert", "--from", "slurm", "-"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(words, stdin=-1, stdout=-3, stderr=-1)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        process.stdin.write(
            SACCT.encode() + b"1|a|u|COMPLETED|1|1|2026-01-01|2026-01-01\n" * 30_000
        )
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, b"Traceback" in said) == (-signal.SIGINT, False), said
