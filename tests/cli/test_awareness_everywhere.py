"""awarenessPolicy in every operation: one answer to what is not understood, whoever asks (9.0)."""

# ruff: noqa: E501 - a case is one line of its table

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_tree import commands

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
# Where else a request may stand: what is inherited, lent, or has something lent to it is judged as well.
HOMES = {
    "in defaults": """<JobGroup{policy}><Id>g</Id>
<JobDefaults><Requested><Processors{attributes}>2</Processors>{requested}</Requested></JobDefaults>
<Job><Id>4</Id><Executable>/bin/true</Executable><Requested><Memory units="MB">64</Memory></Requested></Job></JobGroup>""",
    "in defaults of which a part is overridden": """<JobGroup{policy}><Id>g</Id>
<JobDefaults><Requested><Processors{attributes}>2</Processors>{requested}<Memory units="MB">1</Memory></Requested></JobDefaults>
<Job><Id>4</Id><Executable>/bin/true</Executable><Requested><Memory units="MB">64</Memory></Requested></Job></JobGroup>""",
    "beside defaults": """<JobGroup{policy}><Id>g</Id>
<JobDefaults><Requested><Memory units="MB">64</Memory></Requested></JobDefaults>
<Job><Id>4</Id><Executable>/bin/true</Executable><Requested><Processors{attributes}>2</Processors>{requested}</Requested></Job></JobGroup>""",
    "above a task group": """<JobGroup{policy}><Id>g</Id>
<Job><Id>4</Id><Executable>/bin/true</Executable><Requested><Processors{attributes}>2</Processors>{requested}</Requested>
<TaskGroup><Name>t</Name></TaskGroup></Job></JobGroup>""",
    "above task groups": """<JobGroup{policy}><Id>g</Id>
<Job><Id>4</Id><Executable>/bin/true</Executable><Requested><Processors{attributes}>2</Processors>{requested}</Requested>
<TaskGroup><Name>t</Name></TaskGroup><TaskGroup><Name>u</Name></TaskGroup></Job></JobGroup>""",
}
SACCT = """JobID|JobIDRaw|State|ExitCode|Submit|Start|End|ElapsedRaw|AllocCPUS
4|4|COMPLETED|0:0|2026-01-01T00:00:00|2026-01-01T00:00:01|2026-01-01T00:00:09|8|2
"""

# What is not understood, where it is told, and who looks at it.
SUBMIT = {"submit", "submit --to"}
ACTS = SUBMIT | {"features", "deliver", "condor ad"}
EVERY = ACTS | {"match", "explain", "alternatives", "layout", "place"}
OWN = ACTS | {"layout", "place", "graph"}
NAMED = ACTS | {"graph"}
KINDS = {
    "an operator":            ({"attributes": " op='APPROX'"}, "Requested/Processors/@op", EVERY),
    "a conjunction":          ({"attributes": " conj='Xor'"}, "Requested/Processors/@conj", EVERY),
    "an attribute":           ({"attributes": " weight='3'"}, "Requested/Processors/@weight", EVERY),
    "units":                  ({"requested": "<Swap units='furlong'>1</Swap>"}, "Requested/Swap/@units", EVERY - SUBMIT),
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
    "place": ["place", "job.xml", "--offers", "offers.json"],
}
TRANSLATE = ["translate", "--from", "sss", "--to", "sbatch", "job.xml"]
# Each command of ours that takes no job object for something to be done, by what it does with what
# it does not understand. Who adds a command says here, or in COMMANDS, what it does.
OTHERS = {
    "it has rules of its own, by which it tells what is not understood": {
        "validate", "profile", "conformance",
    },
    "it shows, keeps or finds everything that a document says (9.0: it is not ours to refuse)": {
        "show", "query", "canon", "diff", "repair", "transform", "report", "audit",
        "ledger ingest", "ledger report", "ledger show", "ledger sql", "ledger export",
        "ledger query", "ledger audit",
        "browse", "store import", "store export", "store query", "store log", "store delete",
    },
    "it shows the examples": {"demo", "examples"},
    "it is about a shell, or about this program": {"completion", "schema", "config show"},
    "it is about a job that the batch system has already": {"cancel", "hold", "release"},
    "a request is judged by who answers it": {"request", "serve"},
    "it takes records, outputs of batch systems, ads or features, not job objects": {
        "convert", "send", "status", "features machine", "features live", "features set", "features show",
        "features left", "features status", "features pilots", "features collect", "lcginfo lrms",
        "lcginfo jobs", "lcginfo caps", "lcginfo check", "lcginfo estimate", "lcginfo run",
        "lcginfo backtest", "condor job", "condor features", "condor eval", "condor why", "condor reply-fetch",
        "condor evict-claim", "condor update-job-info", "condor job-exit", "condor cron",
    },
    "it is about a store, a site or a server": {
        "ledger init", "ledger check", "ledger repair", "ledger compact", "store init", "store stats", "store check", "store compact", "store settings",
        "store upgrade", "features expire", "features agent", "features sweep", "features prove", "features sample", "features watch", "features discover", "features install", "features serve", "condor config", "condor check",
    },
    "it asks understood, as its own tests say": {
        "features prolog", "features epilog", "condor queue", "condor fold", "condor simulate",
        "condor fetch-work", "condor prepare-job",
    },
}  # fmt: skip


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


@pytest.mark.parametrize("policy", ["", "Reject", "Warn", "Ignore"])
@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize(
    "kind", ["an operator", "a conjunction", "an attribute", "a requested element"]
)
@pytest.mark.parametrize("operation", sorted(EVERY - SUBMIT))
def test_each_operation_meets_a_request_wherever_it_stands(run, kind, home, operation, policy):
    asked = {"attributes": "", "requested": "", **KINDS[kind][0]}
    policy_attribute = f' awarenessPolicy="{policy}"' if policy else ""
    done = run(operation, HOMES[home].format(policy=policy_attribute, **asked))
    told = [line for line in done.stderr.splitlines() if "is not understood" in line]
    if policy in ("", "Reject"):
        assert (done.exit_code, [": error: " in line for line in told]) == (2, [True])
    else:
        assert done.exit_code == 0, done.stderr
        assert [": warning: " in line for line in told] == [True] * (policy == "Warn")


@pytest.mark.parametrize("operation", sorted(EVERY - {"deliver"}))
def test_a_default_request_that_cannot_be_read_is_not_lost_in_silence(run, operation):
    text = HOMES["in defaults"].format(policy="", attributes=" group='1'", requested="")
    done = run(operation, text)
    assert "Processors (item 1) leaves 1 level open" in done.stderr
    assert done.exit_code


def test_what_a_job_asks_beside_defaults_is_not_forgotten_under_warn(run):
    text = HOMES["beside defaults"].replace("64", "99999").format(
        policy=" awarenessPolicy='Warn'", attributes=" op='APPROX'", requested="",
    )  # fmt: skip
    for operation in ("match", "place"):
        assert run(operation, text).exit_code == 1


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


def test_a_rejected_document_stays_as_it_is(run, tmp_path, monkeypatch):
    text = document("an element of a job", "Reject")
    words = ["deliver", "--in-place", "job.xml", "--record", "sacct.txt", "--tz", "UTC"]
    monkeypatch.setitem(COMMANDS, "in place", words)
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


# To translate is to lose: what no option holds is told by the same policies, in its own words


LOST = {kind: where for kind, (_, where, looks) in KINDS.items() if "submit" in looks} | {
    "units": "Requested/Swap/@units",
    "a condition": "Dependency",
    "an attribute of a name": "Name/@weight",
}


def translated(run_in, text, monkeypatch):
    monkeypatch.chdir(run_in)
    (run_in / "job.xml").write_text(text)
    done = CliRunner().invoke(sssjob, TRANSLATE)
    return done, [line for line in done.stderr.splitlines() if "in sbatch: " in line]


@pytest.mark.parametrize("policy", ["", "Reject", "Warn", "Ignore"])
@pytest.mark.parametrize("kind", LOST)
def test_a_translation_meets_what_nobody_understands_by_the_policy(
    tmp_path, monkeypatch, kind, policy
):
    done, told = translated(tmp_path, document(kind, policy), monkeypatch)
    severity = {"": "warning", "Reject": "error", "Warn": "warning", "Ignore": ""}[policy]
    assert (done.exit_code, bool(done.stdout)) == ((1, False) if policy == "Reject" else (0, True))
    here = [line for line in told if f"at /Job/{LOST[kind]}" in line]
    assert [f": {severity}: " in line for line in here] == [True] * (policy != "Ignore")
    if severity != "error":
        assert "#SBATCH --ntasks=2" in done.stdout
        back = CliRunner().invoke(sssjob, ["translate", "--to", "sss", "-"], done.stdout)
        said = "".join(KINDS[kind][0].values()).replace("'", '"').replace("><", ">\n<")
        assert all(each in back.stdout for each in said.splitlines())


# The policy that is nearest holds


MIXED = [
    # of the job, of its group, of Requested, of the element; what holds
    ("Ignore", "", "Reject", "", "Reject"), ("Reject", "", "Ignore", "", "Ignore"),
    ("Ignore", "", "", "Reject", "Reject"), ("", "Ignore", "", "", "Ignore"),
    ("", "Ignore", "Warn", "", "Warn"), ("Warn", "Reject", "", "Ignore", "Ignore"),
    ("Ignore", "Reject", "", "", "Ignore"), ("Warn", "Ignore", "Ignore", "Reject", "Reject"),
]  # fmt: skip


@pytest.mark.parametrize("asked", [
    "<Processors op='APPROX'{}>2</Processors>", "<Processors conj='Xor'{}>2</Processors>", "<GPU{}>2</GPU>",
])  # fmt: skip
@pytest.mark.parametrize("of_job, of_group, of_request, of_element, holds", MIXED)
@pytest.mark.parametrize("operation", sorted(EVERY))
def test_the_nearest_policy_holds(
    run, operation, of_job, of_group, of_request, of_element, holds, asked
):
    given = [
        f" awarenessPolicy='{policy}'" * bool(policy)
        for policy in (of_group, of_job, of_request, of_element)
    ]
    done = run(operation, (
        f"<JobGroup{given[0]}><Id>g</Id><Job{given[1]}><Id>4</Id><Executable>/bin/true</Executable>"
        f"<Requested{given[2]}>{asked.format(given[3])}</Requested></Job></JobGroup>"
    ))  # fmt: skip
    assert (done.exit_code == 2) is (holds == "Reject"), done.stderr
    words = {"Reject": ": error: ", "Warn": ": warning: "}
    told = [line for line in done.stderr.splitlines() if "is not understood" in line]
    assert [words.get(holds, "") in line for line in told] == [True] * (holds != "Ignore")


def test_every_command_says_what_it_does_with_what_it_does_not_understand():
    judged = {
        " ".join(word for word in words[:2] if not word.endswith(".xml"))
        for words in (*COMMANDS.values(), TRANSLATE)
    }
    judged = {name.partition(" --")[0] for name in judged}
    every = [*judged, *(name for names in OTHERS.values() for name in names)]
    there = [" ".join(words) for words, _ in commands(sssjob)]
    missing = sorted(set(there) - set(every))
    assert not missing, f"{missing}: no row in COMMANDS, and no reason in OTHERS"
    assert sorted(every) == sorted(there)


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


IN_GROUP = (
    "<JobGroup{policy}{colour}><Id>g</Id><Job><Id>1</Id><Executable>/bin/true</Executable></Job>{own}"
    "</JobGroup>"
)


@pytest.mark.parametrize("own, colour", [("<Most>2</Most>", ""), ("", ' colour="red"')])
@pytest.mark.parametrize("policy", ["", "Reject", "Warn", "Ignore"])
def test_what_a_group_says_that_nobody_understands_is_judged_with_each_job_that_is_submitted(
    run, policy, own, colour
):
    stated = f' awarenessPolicy="{policy}"' if policy else ""
    result = run("submit --to", IN_GROUP.format(policy=stated, own=own, colour=colour))
    assert result.exit_code == (2 if policy in ("", "Reject") else 0)
    assert ("error: " in result.stderr) == (policy in ("", "Reject"))
    assert ("warning: " in result.stderr) == (policy == "Warn")
    assert ("E-UNKNOWN" in result.stderr) == (policy != "Ignore")


@pytest.mark.parametrize(
    "policy, told", [("", "warning"), ("Warn", "warning"), ("Reject", "error")]
)
def test_what_a_group_says_that_nobody_understands_is_judged_with_each_job_that_is_translated(
    run, tmp_path, policy, told
):
    stated = f' awarenessPolicy="{policy}"' if policy else ""
    document = IN_GROUP.format(policy=stated, own="<Most>2</Most>", colour="")
    (tmp_path / "job.xml").write_text(document)
    result = CliRunner().invoke(sssjob, TRANSLATE)
    assert f": {told}: element Most is not understood" in result.stderr
    assert (result.exit_code == 0) == (told == "warning")


@pytest.mark.parametrize(
    "policy, told", [("", "warning"), ("Warn", "warning"), ("Reject", "error")]
)
@pytest.mark.parametrize("residual", [[], ["--no-residual"]])
def test_an_attribute_of_a_job_that_nobody_understands_is_told_by_a_translation(
    run, tmp_path, policy, told, residual
):
    stated = f' awarenessPolicy="{policy}"' if policy else ""
    document = f'<Job{stated} colour="red"><Id>1</Id><Executable>/bin/true</Executable></Job>'
    (tmp_path / "job.xml").write_text(document)
    result = CliRunner().invoke(sssjob, [*TRANSLATE, *residual])
    assert f": {told}: colour 'red' in sbatch: it is not understood" in result.stderr
    assert (result.exit_code == 0) == (told == "warning")


@pytest.mark.parametrize(
    "policy, told", [("", "warning"), ("Warn", "warning"), ("Reject", "error"), ("Ignore", "")]
)
@pytest.mark.parametrize(
    "inside",
    [
        '<Id colour="red">1</Id>',
        '<Id>1</Id><TaskGroup colour="red"><TaskCount>1</TaskCount></TaskGroup>',
        '<Id>1</Id><TaskGroup><TaskCount colour="red">1</TaskCount></TaskGroup>',
        '<Id>1</Id><Environment><Variable name="A" colour="red">1</Variable></Environment>',
    ],
)
def test_an_attribute_anywhere_in_a_job_that_nobody_understands_is_told_by_a_translation(
    run, tmp_path, policy, told, inside
):
    stated = f' awarenessPolicy="{policy}"' if policy else ""
    document = f"<Job{stated}>{inside}<Executable>/bin/true</Executable></Job>"
    (tmp_path / "job.xml").write_text(document)
    result = CliRunner().invoke(sssjob, TRANSLATE)
    told_of = [line for line in result.stderr.splitlines() if "colour" in line]
    assert [line.startswith(f"job.xml:1: {told}: colour") for line in told_of] == [True] * bool(
        told
    )
    assert (result.exit_code == 1) == (told == "error")


# What stands in a group, and the standard has it in another place, or nowhere.
IN_GROUPS = {
    "an element that nobody knows": ("<Colour>red</Colour>", "Colour"),
    "one of another vocabulary": ("<x:Note xmlns:x='urn:x'>n</x:Note>", "Note"),
    "an amount that only jobs have": ("<Processors>16</Processors>", "Processors"),
    "a name that only jobs have": ("<Queue>long</Queue>", "Queue"),
    "a request": ("<Requested><Processors>16</Processors></Requested>", "Requested"),
    "what was delivered": ("<Delivered><Processors>16</Processors></Delivered>", "Delivered"),
    "a task group": ("<TaskGroup><TaskCount>16</TaskCount></TaskGroup>", "TaskGroup"),
}  # fmt: skip


# decision 899
@pytest.mark.parametrize("policy", ["", "Reject", "Warn", "Ignore"])
@pytest.mark.parametrize("kind", IN_GROUPS)
@pytest.mark.parametrize("operation", [*COMMANDS, "translate"])
def test_what_stands_in_a_group_and_is_none_of_it_is_judged_with_each_of_its_jobs(
    run, monkeypatch, operation, kind, policy
):
    monkeypatch.setitem(COMMANDS, "translate", TRANSLATE)
    inner, name = IN_GROUPS[kind]
    asked = "<Requested><Processors>2</Processors></Requested>"
    stated = f" awarenessPolicy='{policy}'" if policy else ""
    done = run(operation, (
        f"<JobGroup{stated}><Id>g</Id>{inner}"
        f"<Job><Id>4</Id><Executable>/bin/true</Executable>{asked}</Job></JobGroup>"
    ))  # fmt: skip
    # Who says nothing says Reject, but for a translation, of which every loss is told.
    refuses = policy == "Reject" or (not policy and operation != "translate")
    told = [line for line in done.stderr.splitlines() if "is not understood, and its" in line]
    assert [name in line and "/JobGroup/" in line for line in told] == [True] * (policy != "Ignore")
    assert (bool(done.exit_code), [": error: " in line for line in told]) == (
        refuses, [refuses] * len(told)
    ), done.stderr  # fmt: skip
    if operation != "deliver":  # which gives the document back
        assert "16" not in done.stdout


@pytest.mark.parametrize("operation", [*COMMANDS, "translate"])
def test_of_a_group_nothing_is_said_that_is_understood(run, monkeypatch, operation):
    monkeypatch.setitem(COMMANDS, "translate", TRANSLATE)
    done = run(operation, (
        "<JobGroup awarenessPolicy='Reject'><Id>g</Id><Name>n</Name><Description>d</Description>"
        "<JobDefaults><Project>p</Project></JobDefaults>"
        "<Job><Id>4</Id><Executable>/bin/true</Executable>"
        "<Requested><Processors>2</Processors></Requested></Job></JobGroup>"
    ))  # fmt: skip
    assert (done.exit_code, "is not understood" in done.stderr) == (0, False), done.stderr


AROUND = {
    "an attribute of the group": "<JobGroup colour='x' awarenessPolicy='{0}'><Id>g</Id>{1}</JobGroup>",
    "an attribute of what a group says": "<JobGroup awarenessPolicy='{0}'><Id colour='x'>g</Id>{1}</JobGroup>",
    "an attribute of JobDefaults":
        "<JobGroup awarenessPolicy='{0}'><Id>g</Id><JobDefaults colour='x'/>{1}</JobGroup>",
}  # fmt: skip
WITHIN = "<Job awarenessPolicy='{0}'><Id>1</Id><Executable>/bin/true</Executable>{1}</Job>"


@pytest.mark.parametrize("operation", ["submit --to", "translate"])
@pytest.mark.parametrize(
    "policy, other", [("Reject", "Ignore"), ("Ignore", "Reject"), ("Warn", "Ignore")]
)
@pytest.mark.parametrize("kind", AROUND)
def test_what_stands_around_a_job_is_judged_by_the_policy_that_holds_there(
    run, tmp_path, operation, kind, policy, other
):
    document = AROUND[kind].format(policy, WITHIN.format(other, ""))
    if operation == "translate":
        (tmp_path / "job.xml").write_text(document)
        result = CliRunner().invoke(sssjob, TRANSLATE)
    else:
        result = run(operation, document)
    assert ("attribute colour is not understood" in result.stderr) == (policy != "Ignore")
    assert (result.exit_code == 0) == (policy != "Reject")


@pytest.mark.parametrize("policy", ["Reject", "Warn", "Ignore"])
def test_an_element_that_only_jobs_have_is_no_job_s_where_it_stands_in_a_group(
    run, tmp_path, policy
):
    job = WITHIN.format("Reject", "")
    document = f"<JobGroup awarenessPolicy='{policy}'><Id>g</Id><Processors>16</Processors>{job}</JobGroup>"
    (tmp_path / "job.xml").write_text(document)
    for result in (CliRunner().invoke(sssjob, TRANSLATE), run("submit --to", document)):
        assert ("element Processors is not understood" in result.stderr) == (policy != "Ignore")
        assert (result.exit_code == 0) == (policy != "Reject")
        assert "16" not in result.stdout


@pytest.mark.parametrize("home", ["TaskGroupDefaults", "TaskGroup/TaskDefaults"])
@pytest.mark.parametrize("operation", ["submit --to", "translate"])
def test_an_attribute_of_defaults_that_nothing_inherits_is_judged(run, tmp_path, operation, home):
    *outer, inner = home.split("/")
    before, after = "".join(f"<{each}>" for each in outer), "".join(f"</{each}>" for each in outer)
    document = WITHIN.format("Reject", f"{before}<{inner} colour='x'/>{after}")
    if operation == "translate":
        (tmp_path / "job.xml").write_text(document)
        result = CliRunner().invoke(sssjob, TRANSLATE)
    else:
        result = run(operation, document)
    assert (
        f"attribute colour is not understood, and its awarenessPolicy is Reject at /Job/{home}"
        in (result.stderr)
    )
    assert result.exit_code != 0


def test_a_large_group_is_judged_as_a_small_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = "".join(
        f"<Job><Id>{number}</Id><Executable>/bin/true</Executable><Name>{'n' * 200}</Name></Job>\n"
        for number in range(1500)
    )
    Path("job.xml").write_text(
        f"<JobGroup awarenessPolicy='Reject' colour='x'>\n<Id>g</Id>\n{jobs}</JobGroup>"
    )
    result = CliRunner().invoke(sssjob, [*TRANSLATE, "--output-dir", "out"])
    assert result.exit_code == 1
    assert "attribute colour is not understood" in result.stderr
    assert not list(Path().glob("out/*"))
