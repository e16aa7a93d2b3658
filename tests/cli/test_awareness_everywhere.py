"""awarenessPolicy in every operation: one answer to what is not understood, whoever asks (9.0)."""

# ruff: noqa: E501 - a case is one line of its table

import json
import stat

import pytest
from click.testing import CliRunner

from sssjob.check.awareness import ACT, ASK, GRAPH, LAYOUT, WORDS, understood
from sssjob.cli import sssjob
from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.errors import InvalidJob
from sssjob.expression import of
from sssjob.submission.at_once import submission

JOB = """<JobGroup><Id>g</Id>
<Job{policy}><Id>4</Id>{own}
<Executable>/bin/true</Executable>
<Requested><Processors{attributes}>2</Processors>{requested}<Memory units="MB">64</Memory></Requested>
</Job></JobGroup>"""
SACCT = """JobID|JobIDRaw|State|ExitCode|Submit|Start|End|ElapsedRaw|AllocCPUS
4|4|COMPLETED|0:0|2026-01-01T00:00:00|2026-01-01T00:00:01|2026-01-01T00:00:09|8|2
"""

# What is not understood, where it is told, and who looks at it.
EVERY = {
    "match",
    "explain",
    "alternatives",
    "layout",
    "features",
    "deliver",
    "submit",
    "submit --to",
    "condor ad",
}
OWN = {"layout", "graph", "features", "deliver", "submit", "submit --to", "condor ad"}
NAMED = {"graph", "features", "deliver", "submit", "submit --to", "condor ad"}
KINDS = {
    "an operator":            ({"attributes": " op='APPROX'"}, "Requested/Processors/@op", EVERY),
    "a conjunction":          ({"attributes": " conj='Xor'"}, "Requested/Processors/@conj", EVERY),
    "an attribute":           ({"attributes": " weight='3'"}, "Requested/Processors/@weight", EVERY),
    "units":                  ({"requested": "<Swap units='furlong'>1</Swap>"}, "Requested/Swap/@units", EVERY - {"submit", "submit --to"}),
    "a requested element":    ({"requested": "<GPU>2</GPU>"}, "Requested/GPU", EVERY),
    "with an operator":       ({"requested": "<GPU op='APPROX' preference='x'>2</GPU>"}, "Requested/GPU", EVERY),
    "one that begins an Or":  ({"requested": "<GPU group='1'>2</GPU><Memory group='-1' conj='Or' units='MB'>64</Memory>"}, "Requested/GPU", EVERY),
    "an element of a job":    ({"own": "<Colour>red</Colour>"}, "Colour", OWN),
    "a condition":            ({"own": "<Dependency condition='OnMoon'>7</Dependency>"}, "Dependency/@condition", {"graph", "features", "deliver", "condor ad"}),
    "an attribute of a name": ({"own": "<Name weight='3'>n</Name>"}, "Name/@weight", NAMED),
}  # fmt: skip
COMMANDS = {
    "match": ["match", "job.xml", "--offers", "offers.json"],
    "explain": ["explain", "job.xml"],
    "alternatives": ["alternatives", "job.xml"],
    "layout": ["layout", "job.xml"],
    "graph": ["graph", "job.xml"],
    "features": ["features", "job", "--dry-run", "job.xml"],
    "deliver": ["deliver", "job.xml", "--record", "sacct.txt", "--tz", "UTC"],
    "condor ad": ["condor", "ad", "job.xml"],
    "submit": ["features", "submit", "--for", "slurm", "--dry-run", "job.xml"],
    "submit --to": ["submit", "--to", "slurm", "--dry-run", "job.xml"],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(stat.S_IRWXU)
    (tmp_path / "offers.json").write_text(
        json.dumps([{"id": "n", "Processors": 4, "Memory": 999, "Swap": 9}])
    )
    (tmp_path / "sacct.txt").write_text(SACCT)

    def run(operation, document):
        (tmp_path / "job.xml").write_text(document)
        return CliRunner().invoke(sssjob, COMMANDS[operation])

    return run


def document(kind, policy):
    parts = {"own": "", "attributes": "", "requested": "", **KINDS[kind][0]}
    return JOB.format(policy=f' awarenessPolicy="{policy}"' if policy else "", **parts)


CASES = [
    (kind, operation)
    for kind, (_, _, looks) in KINDS.items()
    for operation in COMMANDS
    if operation in looks
]


@pytest.mark.parametrize("policy", ["", "Reject", "Warn", "Ignore"])
@pytest.mark.parametrize("kind, operation", CASES)
def test_each_operation_meets_what_it_does_not_understand_by_the_policy(
    run, kind, operation, policy
):
    done = run(operation, document(kind, policy))
    told = [line for line in done.stderr.splitlines() if "is not understood" in line]
    assert all(f"/Job/{KINDS[kind][1]} (SSS 9.0)" in line for line in told), done.stderr
    if policy in ("", "Reject"):
        assert done.exit_code == 2, done.stderr
        assert [": error: " in line for line in told] == [True]
    else:
        assert done.exit_code == 0, done.stderr
        assert [": warning: " in line for line in told] == [True] * (policy == "Warn")


@pytest.mark.parametrize("kind, operation", [
    (kind, operation)
    for kind, (_, _, looks) in KINDS.items()
    for operation in COMMANDS
    if operation not in looks and (kind, operation.removesuffix(" --to")) not in {("units", "submit"), ("a condition", "submit")}
])  # fmt: skip
def test_what_an_operation_does_not_look_at_does_not_stop_it(run, kind, operation):
    done = run(operation, document(kind, "Reject"))
    assert (done.exit_code, "is not understood" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize("operation", sorted(EVERY))
def test_a_rejection_names_everything_at_once(run, operation):
    done = run(operation, JOB.format(
        policy="", own="", attributes=" op='APPROX' weight='3'", requested="<GPU/><TPU awarenessPolicy='Warn'/>",
    ))  # fmt: skip
    assert done.exit_code == 2
    for severity, what in [
        ("error", "op 'APPROX'"),
        ("error", "attribute weight"),
        ("error", "element GPU"),
        ("warning", "element TPU"),
    ]:
        assert f"{severity}: {what} is not understood" in done.stderr


def test_a_rejected_document_stays_as_it_is(run, tmp_path):
    text = document("an element of a job", "Reject")
    COMMANDS["in place"] = [
        "deliver",
        "--in-place",
        "job.xml",
        "--record",
        "sacct.txt",
        "--tz",
        "UTC",
    ]
    done = run("in place", text)
    assert (done.exit_code, (tmp_path / "job.xml").read_text()) == (2, text)
    assert "1 job refused" in done.stderr


def test_defaults_are_judged_by_the_policy_that_held_where_they_were_written(run):
    text = document("an operator", "").replace(" op='APPROX'", "").replace("<Id>g</Id>", (
        "<Id>g</Id><JobDefaults{}><Requested><Disk op='APPROX'>1</Disk></Requested></JobDefaults>"
    ))  # fmt: skip
    assert run("layout", text.format("")).exit_code == 2
    assert run("layout", text.format(" awarenessPolicy='Warn'")).exit_code == 0


def test_a_job_that_was_not_selected_stops_no_other(run, tmp_path):
    good = "<Job><Id>5</Id><Requested><Processors>1</Processors></Requested></Job></JobGroup>"
    (tmp_path / "job.xml").write_text(
        document("an operator", "Reject").replace("</JobGroup>", good)
    )
    for command in ("explain", "layout"):
        done = CliRunner().invoke(sssjob, [command, "--select", "5", "job.xml"])
        assert (done.exit_code, done.stderr) == (0, "")


# What is left of a request, which every operation goes on with


REQUESTS = [
    ("<A/>", "()"),
    ("<Queue>q</Queue><A conj='Or'/>", "Queue EQ q"),
    ("<A/><Queue conj='Nor'>q</Queue>", "Queue NE q"),
    ("<A group='2'/><Queue conj='Or' group='-1'>q</Queue><User group='-1'>u</User><Machine>m</Machine>", "((Queue EQ q And User EQ u) And Machine EQ m)"),
    ("<Memory preference='2'>2</Memory><A preference='5'/><Memory preference='1'>1</Memory>", "(OneOf(Memory EQ 2: 2) And OneOf(Memory EQ 1: 1))"),
    ("<Processors group='1'>2</Processors><A conj='Xor' op='x' group='-1'/>", "Processors EQ 2"),
    ("<Queue op='about'>q</Queue>", "Queue EQ q"),
]  # fmt: skip


@pytest.mark.parametrize("inner, expected", REQUESTS)
def test_neither_and_nor_or_misses_what_is_not_understood(inner, expected):
    job = loads(f"<Job awarenessPolicy='Ignore'><Id>1</Id><Requested>{inner}</Requested></Job>")
    for operation in (ASK, LAYOUT, ACT):
        known = understood(job, operation)
        assert known.accepted
        assert str(of(known.block)) == expected
        assert understood(known.block, operation).outcome.ignore == ()


def test_what_is_understood_is_left_as_it_is():
    job = loads(
        "<Job><Id>1</Id><!-- c --><Requested><Processors op='GE'>2</Processors></Requested></Job>"
    )
    for operation in (ASK, GRAPH, LAYOUT, ACT):
        assert understood(job, operation).block == job
    assert set(WORDS) == {"conj"}


def test_a_library_call_raises_with_the_full_list():
    job = resolve(loads("<Job><Id>1</Id><A/><Executable>/x</Executable><B/></Job>")).block
    for call in (lambda: understood(job).required(), lambda: submission(job, "slurm")):
        with pytest.raises(InvalidJob) as refused:
            call()
        assert [found.path for found in refused.value.findings] == ["/Job/A", "/Job/B"]
