"""sssjob match, explain and alternatives: the contract for scripts, the tables, and bad input."""

# ruff: noqa: E501 - a case is one line of its table

import json

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

RANGE = """<Job><Id>r</Id><Requested><Processors op="GE">8</Processors>
<Processors op="LE">16</Processors></Requested></Job>"""
MEMORY = """<Job><Id>m</Id><Requested><Memory preference="3">2048</Memory>
<Memory preference="1">1024</Memory><Feature preference="-2">ib</Feature>
<Feature preference="-1">ssd</Feature></Requested></Job>"""
GROUP = """<JobGroup><Id>g</Id>
<JobDefaults><Feature>ib</Feature><Requested><Memory units="MB">512</Memory></Requested></JobDefaults>
<Job><Id>a</Id><Requested><Processors>4</Processors></Requested></Job>
<Job><Id>b</Id><Requested><Processors>8</Processors></Requested>
 <TaskGroup><Name>m</Name><Requested><Processors>1</Processors></Requested></TaskGroup>
 <TaskGroup><Name>s</Name><Requested><Processors>7</Processors></Requested></TaskGroup></Job>
</JobGroup>"""
NODES = [{"id": "n4", "Processors": 4}, {"id": "n64", "Processors": 64}, {"id": "n?"}]


@pytest.fixture
def ask(tmp_path):
    """Run a command on a document, with offers (data for JSON, or a text) if there are any."""

    def run(command, document, *arguments, offers=None):
        job = tmp_path / "job.xml"
        job.write_text(document)
        if offers is not None:
            file = tmp_path / "offers"
            file.write_text(offers if isinstance(offers, str) else json.dumps(offers))
            arguments = ("--offers", str(file), *arguments)
        return CliRunner().invoke(sssjob, [command, str(job), *arguments])

    return run


def verdicts(result):
    return {row["id"]: row["verdict"] for row in json.loads(result.stdout)}


def test_match_tells_scripts_of_each_offer_in_their_order(ask):
    result = ask("match", RANGE, "--json", offers=NODES)
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert [row["id"] for row in rows] == ["n4", "n64", "n?"]
    assert verdicts(result) == {"n4": "no", "n64": "yes", "n?": "unknown"}
    assert rows[0]["reasons"] == ["Processors GE 8: up to 4 offered"]
    assert (rows[0]["score"], rows[0]["alternative"]) == (None, None)
    assert (rows[1]["score"], rows[1]["alternative"]) == (
        0,
        "(Processors GE 8 And Processors LE 16)",
    )
    assert [row["rank"] for row in rows] == [3, 1, 2]


def test_match_shows_people_the_best_first_with_what_decided(ask):
    lines = ask("match", RANGE, offers=NODES).stdout.splitlines()
    assert lines[:2] == ["/Job r", "  (Processors GE 8 And Processors LE 16)"]
    assert [line.split()[:2] for line in lines[2:]] == [
        ["n64", "yes"],
        ["n?", "unknown"],
        ["n4", "no"],
    ]
    assert lines[4].endswith("Processors GE 8: up to 4 offered")


def test_match_ranks_by_exact_scores(ask):
    offers = [
        {"id": "512+ib", "Memory": 512, "Feature": ["ib"]},
        {"id": "2048", "Memory": "2 GB", "Feature": []},
        {"id": "1024+both", "Memory": 1024, "Feature": ["ib", "ssd"]},
        {"id": "2048+ib", "Memory": "2048 MB", "Feature": "ib"},
    ]
    rows = json.loads(ask("match", MEMORY, "--json", offers=offers).stdout)
    assert [row["exact_score"] for row in rows] == [None, "3/4", "5/4", "17/12"]
    assert [row["id"] for row in sorted(rows, key=lambda row: row["rank"])] == [
        "2048+ib", "1024+both", "2048", "512+ib",
    ]  # fmt: skip
    assert rows[3]["score"] == pytest.approx(17 / 12)
    assert rows[2]["alternative"] == "Memory EQ 1024"


def test_match_applies_defaults_and_chooses_jobs_and_task_groups(ask):
    offers = [{"id": "n", "Processors": 8, "Memory": 512, "Feature": ["ib"]}]
    everything = json.loads(ask("match", GROUP, "--json", offers=offers).stdout)
    assert [(row["job"], row["verdict"]) for row in everything] == [
        ("a", "yes"), ("b", "yes"), ("m", "yes"), ("s", "yes"),
    ]  # fmt: skip
    assert everything[0]["alternative"] == (
        "(Processors EQ 4 And Memory EQ 512 MB And Feature EQ ib)"
    )
    chosen = ask("match", GROUP, "--json", "--select", "//Job[Id='b']", offers=offers)
    assert [row["job"] for row in json.loads(chosen.stdout)] == ["b", "m", "s"]
    group = ask("match", GROUP, "--json", "--select", "//TaskGroup[Name='s']", offers=offers)
    (row,) = json.loads(group.stdout)
    assert (row["job"], row["path"]) == ("s", "/JobGroup/Job[2]/TaskGroup[2]")
    assert row["alternative"] == "(Feature EQ ib And Processors EQ 7)"


def test_match_takes_delivered_blocks_as_offers_and_compares_them_exactly(ask):
    jobs = "<Data>{}</Data>".format("".join(
        f"<Job><Id>d{n}</Id><Delivered><Processors>{n}</Processors></Delivered></Job>" for n in (4, 12, 64)
    ))  # fmt: skip
    assert verdicts(ask("match", RANGE, "--json", offers=jobs)) == {
        "d4": "no",
        "d12": "yes",
        "d64": "no",
    }
    alone = "<Delivered><Processors>12</Processors></Delivered>"
    assert verdicts(ask("match", RANGE, "--json", offers=alone)) == {"0": "yes"}
    assert verdicts(ask("match", RANGE, "--json", "--mode", "fit", offers=jobs))["d64"] == "yes"


def test_match_mode_of_one_offer_counts(ask):
    offers = [
        {"id": "x", "mode": "exact", "Processors": 64},
        {"id": "f", "mode": "fit", "Processors": 64},
    ]
    assert verdicts(ask("match", RANGE, "--json", offers=offers)) == {"x": "no", "f": "yes"}


def test_a_job_without_requested_asks_by_its_own_amounts(ask):
    job = "<Job><Id>1</Id><User>amy</User><Processors>8</Processors></Job>"
    assert verdicts(ask("match", job, "--json", offers=NODES))["n64"] == "yes"
    assert json.loads(ask("explain", job, "--json").stdout)["expression"] == "Processors EQ 8"


@pytest.mark.parametrize("command", ["match", "place"])
@pytest.mark.parametrize(
    ("offers", "told", "answers"),
    [
        ('[{"id": "n1", "Memory": "2 XB"}, {"id": "n2", "Processors": 9}]', "1 offer is left out: the answers are about the others alone", True),
        ('[{"id": "n1", "Memory": "2 XB"}]', "no offer in it can be read", False),
        ("[{", "no JSON", False),
        ("\udcff", "no JSON: it is no text in UTF-8", False),
        ("<Job>", "the document ends inside an element", False),
    ],
)  # fmt: skip
def test_offers_that_cannot_be_read_are_told_and_lead_to_no_answer_by_themselves(
    command, offers, told, answers, tmp_path
):
    file = tmp_path / "nodes.json"
    file.write_bytes(offers.encode(errors="surrogateescape"))
    job = tmp_path / "job.xml"
    job.write_text("<Job><Id>7</Id><Requested><Processors>2</Processors></Requested></Job>")
    result = CliRunner().invoke(sssjob, [command, str(job), "--offers", str(file)])
    assert result.exit_code == 2
    assert all(str(file) in line for line in result.stderr.splitlines() if "error" in line)
    assert told in result.stderr
    assert bool(result.stdout) == answers


def test_match_ends_with_1_if_no_offer_satisfies(ask):
    assert ask("match", RANGE, offers=NODES[:1]).exit_code == 1
    assert ask("match", RANGE, "--json", offers=[]).stdout == "[]\n"


BAD_OFFERS = [
    pytest.param("[1]", "offers[0]: expected an object of property name to value, not a number", id="a number"),
    pytest.param('[{}, {"id": "x", "Memory": "lots"}]', "offers[1] (x): Memory: 'lots' is not a number", id="no amount"),
    pytest.param('[{"Memory": "2 XB"}]', "Memory: 'XB' is not one of the units B, KB", id="no unit"),
    pytest.param('[{"Memory": NaN}]', "Memory: 'NaN' is not a number", id="NaN"),
    pytest.param('[{"Memory": 1e9999}]', "Memory: ", id="a number out of bounds"),
    pytest.param('[{"Memory": {"Free": 1}}]', "Memory: an object without value", id="no context"),
    pytest.param('[{"Feature": [["a"]]}]', "Feature: an array in an array", id="an array in an array"),
    pytest.param('[{"mode": "some"}]', "mode 'some' is neither fit nor exact", id="no mode"),
    pytest.param('[{"id": []}]', "id is an array, not a text", id="no id"),
    pytest.param('[{"A": 1, "A": 2}]', "'A' stands twice", id="a name twice"),
    pytest.param("[" * 100_000, "too deep", id="too deep"),
    pytest.param('[{"A": ', "no JSON", id="no JSON"),
    pytest.param("", "no JSON", id="nothing"),
    pytest.param("<Job><Id>1</Id><Delivered>", "error", id="no XML"),
    pytest.param("<Job><Id>1</Id><Delivered><Memory>lots</Memory></Delivered></Job>", "offers[0] (1): 'lots'", id="no amount in XML"),
    pytest.param('[{"Node": {"value": "n[0-9999999]", "aggregation": "Range"}}]', "more than", id="too many nodes"),
]  # fmt: skip


@pytest.mark.parametrize(("offers", "message"), BAD_OFFERS)
def test_bad_offers_are_refused_by_their_place(ask, offers, message):
    result = ask("match", RANGE, offers=offers)
    assert result.exit_code == 2
    assert message in result.stderr


def test_one_bad_offer_does_not_hide_the_others(ask):
    result = ask("match", RANGE, "--json", offers=[{"id": "bad", "Memory": "x"}, *NODES])
    assert (result.exit_code, verdicts(result)["n64"]) == (2, "yes")


def test_names_that_are_none_get_advice(ask):
    assert "did you mean Memory?" in ask("match", RANGE, offers=[{"Memroy": 1}]).stderr


def bad(inner):
    return f"<Job>\n<Id>1</Id>\n<Requested>{inner}</Requested></Job>"


BAD_REQUESTS = [
    pytest.param(bad('<User group="1">a</User>'), "job.xml:3: error: User (item 1) leaves 1 level open", id="E-GROUP"),
    pytest.param(bad('<User op="IS">a</User>'), "op 'IS' is not understood", id="unknown op"),
    pytest.param(bad('<User group="x">a</User>'), "'x' is not an integer", id="group is no integer"),
    pytest.param(bad('<Processors op="Match">1.</Processors>'), "[E-OP]", id="E-OP"),
    pytest.param(bad('<Node op="Match">a(?R)</Node>'), "at character 2", id="a pattern that is refused"),
    pytest.param(bad('<A group="1">1</A>' * 65 + '<A group="-65">1</A>'), "[E-LIMIT]", id="E-LIMIT"),
    pytest.param("<Job><Id>1", "error", id="no XML"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "message"), BAD_REQUESTS)
def test_bad_requests_are_findings_with_code_and_place(ask, document, message):
    result = ask("match", document, offers=NODES)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


UNKNOWN = """<Job awarenessPolicy="{}">
<Id>1</Id><Requested>
<Processors op="APPROX">4</Processors>
<Memory weight="3" conj="Xor">2</Memory>
<Queue group="1">z</Queue><GPU conj="Or" group="-1">2</GPU></Requested></Job>"""
GIVEN = [{"id": "n", "Processors": 4, "Memory": 2, "Queue": "z"}]
SAID = [
    (3, "op 'APPROX'", "Processors/@op"), (4, "attribute weight", "Memory/@weight"),
    (4, "conj 'Xor'", "Memory/@conj"), (5, "element GPU", "GPU"),
]  # fmt: skip


@pytest.mark.parametrize("command", ["match", "explain", "alternatives"])
@pytest.mark.parametrize(
    ("policy", "severity", "exit_code"),
    [("Reject", "error", 2), ("Warn", "warning", 0), ("Ignore", None, 0), ("Other", "error", 2)],
)
def test_9_0_what_is_not_understood_is_met_by_the_policy_that_holds(
    ask, command, policy, severity, exit_code
):
    offers = GIVEN if command == "match" else None
    result = ask(command, UNKNOWN.format(policy), "--json", offers=offers)
    assert result.exit_code == exit_code
    for line, what, path in SAID:
        said = f"job.xml:{line}: {severity}: {what} is not understood"
        assert (said in result.stderr) == (severity is not None)
        assert (f"at /Job/Requested/{path} (SSS 9.0)" in result.stderr) == (severity is not None)
    if exit_code == 0:
        row = json.loads(result.stdout)
        asked = {
            "match": lambda: row[0]["alternative"], "explain": lambda: row["expression"],
            "alternatives": lambda: row["alternatives"][0]["expression"],
        }  # fmt: skip
        assert asked[command]() == "(Processors EQ 4 And Memory EQ 2 And Queue EQ z)"


def test_9_0_an_inner_policy_overrides_an_outer_one(ask):
    inner = UNKNOWN.format("Ignore").replace("<GPU ", '<GPU awarenessPolicy="Reject" ')
    result = ask("match", inner, offers=GIVEN)
    assert result.exit_code == 2
    assert "element GPU is not understood" in result.stderr
    assert "APPROX" not in result.stderr


def test_9_0_the_policy_around_a_task_group_holds_in_it(ask):
    job = UNKNOWN.format("Warn").replace("<Requested>", "<TaskGroup><Name>t</Name><Requested>")
    job = job.replace("</Requested>", "</Requested></TaskGroup>")
    result = ask("match", job, "--select", "//TaskGroup", "--json", offers=GIVEN)
    assert (result.exit_code, verdicts(result)) == (0, {"n": "yes"})
    assert "warning: element GPU is not understood" in result.stderr


def test_an_exploding_pattern_is_a_finding_and_its_offers_unknown(ask):
    job = bad(r'<Node op="Match">(x+x+)+(y)\2</Node>')
    offers = [{"id": str(n), "Node": "x" * 40} for n in range(50)]
    result = ask("match", job, "--json", offers=offers)
    assert set(verdicts(result).values()) == {"unknown"}
    assert result.stderr.count("E-REGEX-LIMIT") == 1


def test_patterns_may_be_searched_or_globs(ask):
    offers = [{"id": "n", "Node": "xnode12"}]
    job = bad('<Node op="Match">node[1-5]</Node>')
    assert verdicts(ask("match", job, "--json", offers=offers)) == {"n": "no"}
    assert "W-ANCHOR" in ask("match", job, offers=offers).stderr
    assert verdicts(ask("match", job, "--json", "--match", "search", offers=offers)) == {"n": "yes"}
    job = bad('<Node op="Match">xn*?2</Node>')
    assert verdicts(ask("match", job, "--json", "--match", "glob", offers=offers)) == {"n": "yes"}


def test_standard_input_cannot_be_both(ask):
    assert CliRunner().invoke(sssjob, ["match", "--offers", "-"]).exit_code == 2


def test_text_of_strangers_steers_no_terminal(ask):
    offers = [{"id": "\x1b[2J", "Processors": 8}]
    result = ask("match", bad("<Processors>8</Processors><Queue>\u202e</Queue>"), offers=offers)
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output


# explain


def test_explain_prints_one_expression_for_scripts(ask):
    row = json.loads(ask("explain", RANGE, "--json").stdout)
    assert (row["id"], row["expression"]) == ("r", "(Processors GE 8 And Processors LE 16)")
    assert row["tree"]["And"][0] == {
        "property": "Processors", "op": "GE", "value": "8", "attributes": {},
    }  # fmt: skip


def test_explain_draws_a_tree_for_people(ask):
    job = bad('<Memory preference="2" units="GB">2</Memory><Memory preference="1" units="GB">1</Memory>'
              '<Feature conj="Nand">ib</Feature><Duration conj="Or">3600</Duration>'
              '<Node aggregation="Range" count="2">n[1-4]</Node><Feature preference="-1">ssd</Feature>')  # fmt: skip
    assert ask("explain", job).stdout.splitlines() == [
        "/Job 1",
        "└── at least one of",
        "    ├── all of",
        "    │   ├── one of, the heavier the better",
        "    │   │   ├── Memory = 2 GB  weight 2",
        "    │   │   └── Memory = 1 GB  weight 1",
        "    │   └── not Feature = ib",
        "    └── all of",
        "        ├── Duration = 3600 (01:00:00)",
        "        ├── Node in n[1-4] count=2",
        "        └── if possible",
        "            └── Feature = ssd  weight 1",
    ]


def test_explain_says_what_readers_take_differently(ask):
    job = bad(
        '<Processors>12</Processors><Processors conj="Or">16</Processors><Memory>512</Memory>'
    )
    result = ask("explain", job)
    assert result.exit_code == 0
    assert "job.xml:3: warning:" in result.stderr
    assert "/Job/Requested/Memory" in result.stderr
    assert "[W-MIXED]" in result.stderr


def test_explain_of_nothing(ask):
    found = ask("explain", "<Job><Id>1</Id></Job>")
    assert "nothing is requested" in found.stdout
    assert found.exit_code == 1
    assert ask("explain", GROUP, "--select", "nobody").exit_code == 1


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("command", ["explain", "alternatives"])
def test_where_nothing_is_requested_the_exit_code_is_1(ask, command, options):
    for job in ("<Job><Id>1</Id></Job>", "<Job><Requested/></Job>"):
        found = ask(command, job, *options)
        assert (found.exit_code, found.stderr) == (1, "")
        assert found.stdout
    both = "<JobGroup><Job/><Job><Requested><Memory>1</Memory></Requested></Job></JobGroup>"
    assert ask(command, both, *options).exit_code == 0


# alternatives


def test_alternatives_lists_the_best_first(ask):
    row = json.loads(ask("alternatives", MEMORY, "--json").stdout)
    assert [(each["exact_score"], each["expression"]) for each in row["alternatives"]] == [
        ("3/4", "(Memory EQ 2048)"), ("1/4", "(Memory EQ 1024)"),
    ]  # fmt: skip
    assert row["complete"] is True
    assert "3/4  Memory EQ 2048" in ask("alternatives", MEMORY).stdout


def test_performance_factors_are_carried(ask):
    job = bad('<Processors performanceFactor="1.5">8</Processors>')
    (found,) = json.loads(ask("alternatives", job, "--json").stdout)["alternatives"]
    assert found["performanceFactor"] == {"Processors EQ 8": "1.5"}


def test_2_to_the_40_alternatives_are_bounded_and_said(ask):
    job = bad('<Queue group="1">a</Queue><Queue conj="Or" group="-1">b</Queue>' * 40)
    result = ask("alternatives", job, "--json")
    row = json.loads(result.stdout)
    assert (len(row["alternatives"]), row["complete"], result.exit_code) == (1000, False, 0)
    assert "more than 1000 alternatives" in result.stderr
    assert "[E-LIMIT]" in result.stderr
    assert (
        len(json.loads(ask("alternatives", job, "--json", "--limit", "3").stdout)["alternatives"])
        == 3
    )


SMALL = [{"id": "small", "Processors": 2, "Memory": "1 GB"}]
MUCH = "<Requested><Processors op='GE'>64</Processors></Requested>"
BOTH = f"<Job>{{}}<TaskGroup><Id>g</Id>{MUCH}</TaskGroup>{{}}</Job>"


@pytest.mark.parametrize("select", [(), ("--select", "//TaskGroup")])
def test_what_the_only_task_group_requests_is_requested_by_its_job(ask, select):
    job = BOTH.format("<Requested><Queue>q</Queue></Requested>", "")
    result = ask("match", job, *select, offers=SMALL)
    assert result.exit_code == 1
    assert "  (Queue EQ q And Processors GE 64)" in result.stdout.splitlines()
    assert "Processors ≥ 64" in ask("explain", job, *select).stdout
    assert "Queue EQ q And Processors GE 64" in ask("alternatives", job, *select).stdout


def test_each_of_several_task_groups_is_asked_for_by_itself_and_all_must_be_satisfied(ask):
    few = "<TaskGroup><Id>f</Id><Requested><Processors>2</Processors></Requested></TaskGroup>"
    job = BOTH.format("<Requested><Feature>ib</Feature></Requested>", few)
    offers = [{"id": "few", "Processors": 2, "Feature": ["ib"]}]
    result = ask("match", job, "--jsonl", offers=offers)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["path"], row["verdict"]) for row in rows] == [
        ("/Job", "yes"), ("/Job/TaskGroup[1]", "no"), ("/Job/TaskGroup[2]", "yes"),
    ]  # fmt: skip
    assert rows[2]["alternative"] == "(Feature EQ ib And Processors EQ 2)"
    assert result.exit_code == 1
    offers.append({"id": "many", "Processors": 64, "Feature": ["ib"]})
    assert ask("match", job, offers=offers).exit_code == 0


def test_what_job_and_only_group_say_otherwise_is_told(ask):
    own = "<Requested><Processors>2</Processors><Memory>512</Memory></Requested>"
    group = "<Requested><Processors>4</Processors><Memory>100</Memory></Requested>"
    result = ask("explain", f"<Job>{own}<TaskGroup>{group}</TaskGroup></Job>", "--json")
    asked = json.loads(result.stdout)["expression"]
    assert asked == "(Memory EQ 512 And Processors EQ 4)"
    assert (
        "Processors counts for nothing: its only task group says another at /Job/Requested/Processors"
        in result.stderr
    )
    assert (
        "Memory counts for nothing: its job says another at /Job/TaskGroup/Requested/Memory"
        in result.stderr
    )


@pytest.mark.parametrize("asked, told", [
    ("<Queue>main</Queue>", True),
    ("<Queue>main</Queue><Requested><Queue>main</Queue></Requested>", False),
    ("<Requested><Queue>main</Queue></Requested>", False),
])  # fmt: skip
def test_a_queue_that_stands_outside_is_told_where_offers_say_theirs(ask, asked, told):
    for offers, said in (([{"id": "n", "Queue": "main"}], told), ([{"id": "n"}], False)):
        result = ask("match", f"<Job><Id>1</Id>{asked}</Job>", offers=offers)
        text = "Queue is not asked of offers: it stands outside of Requested at /Job/Queue"
        assert (text in result.stderr) is said


@pytest.mark.parametrize("asked, places", [
    ("<Queue>main</Queue><TaskGroup/><TaskGroup/>", ["/Job"]),
    ("<TaskGroup><Name>t</Name><Queue>main</Queue></TaskGroup>", ["/Job/TaskGroup"]),
    ("<TaskGroup><Queue>main</Queue><Requested><Queue>main</Queue></Requested></TaskGroup>", []),
    ("<Requested><Queue>main</Queue></Requested><TaskGroup><Queue>main</Queue></TaskGroup>", []),
    ("<Queue>main</Queue><TaskGroup><Requested><Queue>main</Queue></Requested></TaskGroup>", []),
    ("<TaskGroup><Queue>main</Queue></TaskGroup><TaskGroup/>", ["/Job/TaskGroup[1]"]),
    ("<Queue>main</Queue><TaskGroup><Requested><Queue>main</Queue></Requested></TaskGroup>"
     "<TaskGroup/>", ["/Job"]),
    ("<TaskGroupDefaults><Queue>main</Queue></TaskGroupDefaults><TaskGroup/><TaskGroup/>",
     ["/Job/TaskGroup[1]", "/Job/TaskGroup[2]"]),
])  # fmt: skip
def test_a_queue_outside_is_told_of_each_block_once(ask, asked, places):
    offers = [{"id": "n", "Queue": "main", "Name": "x"}]
    result = ask("match", f"<Job><Id>1</Id>{asked}</Job>", offers=offers)
    text = "is not asked of offers: it stands outside of Requested at "
    found = [line.partition(text)[2] for line in result.stderr.splitlines() if text in line]
    assert [each.split(";")[0] for each in found] == [f"{place}/Queue" for place in places]


def test_a_part_that_counts_as_a_whole_is_told_with_its_reason(ask):
    either = '<Requested><Processors>2</Processors><Memory conj="Or">5</Memory></Requested>'
    of_group = "<Requested><Processors>4</Processors></Requested>"
    result = ask("explain", f"<Job>{either}<TaskGroup>{of_group}</TaskGroup></Job>")
    told = [line.partition("warning: ")[2] for line in result.stderr.splitlines()]
    why = "its only task group says another"
    assert told == [
        f"Processors counts for nothing: {why} at /Job/Requested/Processors [W-USELESS]",
        f"Memory counts for nothing: it is joined to Processors, of which {why}"
        " at /Job/Requested/Memory [W-USELESS]",
    ]


def test_preferences_of_several_requests_are_shown_without_what_keeps_them_apart(ask):
    wishes = "".join(
        f'<Requested><Memory preference="-1">{size}</Memory></Requested>' for size in (4, 5)
    )
    shown = json.loads(ask("explain", f"<Job>{wishes}</Job>", "--json").stdout)["expression"]
    assert shown == "((Wish(Memory EQ 4: 1)) And (Wish(Memory EQ 5: 1)))"
