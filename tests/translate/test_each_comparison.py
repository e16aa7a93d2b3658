"""Each comparison of a request is written or told, whatever stands beside it (decision 1031)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.document import loads
from sssjob.errors import InvalidValue, Severity
from sssjob.registry import all_targets
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, Untranslatable, translate

TARGETS = [
    name for name, row in all_targets().items() if row.writes and name not in ("sss", "dagman")
]
# One name may be that of a feature, a queue or a machine, too.
TEXTS = {
    "Feature": ("ib", "ssd"), "Node": ("n1", "n2"), "Queue": ("q", "ib"), "Machine": ("m", "q"),
    "Partition": ("q", "r"), "Architecture": ("x86_64", "ib"), "OperatingSystem": ("Linux", "ib"),
    "Project": ("p",), "QualityOfService": ("ib",), "Reservation": ("q",), "User": ("amy",),
    "Group": ("g",), "NetworkAdapter": ("ib",), "Shell": ("/bin/bash",),
}  # fmt: skip
NOT = (("op", "NE"),)
NAND = (("conj", "Nand"),)
LIKED = (("preference", "-3"),)
SIGNS = (
    (), (), (("op", "NE"),), (("conj", "Nand"),), (("op", "NE"), ("conj", "Nand")),
    (("op", "Match"),), (("preference", "-1"),), (("preference", "-3"),),
)  # fmt: skip
JOB = '<Job awarenessPolicy="{}"><Id>1</Id><Executable>/bin/date</Executable>\n{}\n</Job>'
PLACES = {
    "job": "<Requested>\n{}\n</Requested>",
    "group": "<TaskGroup><Requested>\n{}\n</Requested></TaskGroup>",
}
SETTINGS = Settings(residual=False)

COMPARED = st.sampled_from(sorted(TEXTS)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(TEXTS[name]), st.sampled_from(SIGNS))
)
# Features and nodes are what most targets have several words for.
OFTEN = st.sampled_from(("Feature", "Feature", "Node", "Queue")).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(TEXTS[name]), st.sampled_from(SIGNS))
)
ONE = COMPARED | OFTEN


def chosen(one, other):
    """A choice between two, of which neither is a wish or negated as a whole."""
    kept = [
        (name, text, tuple(sign for sign in signs if sign[0] == "op"))
        for name, text, signs in (one, other)
    ]
    return tuple(kept)


PARTS = st.lists(ONE.map(lambda one: (one,)) | st.builds(chosen, ONE, ONE), min_size=1, max_size=4)


def line(compared, **more):
    name, text, signs = compared
    attributes = "".join(f' {key}="{value}"' for key, value in {**dict(signs), **more}.items())
    return f"<{name}{attributes}>{text}</{name}>"


def lines(parts):
    for part in parts:
        if len(part) == 1:
            yield line(part[0])
        else:
            yield line(part[0], group="1")
            yield line(part[1], conj="Or", group="-1")


def written(parts, place, target, policy="Warn"):
    job = JOB.format(policy, place.format("\n".join(lines(parts))))
    try:
        return translate(loads(job), target, SETTINGS)
    except (InvalidValue, Untranslatable):
        return None


def meant(compared):
    """What is the same wherever it stands: said twice, it is written once."""
    name, text, signs = compared
    said = dict(signs)
    negated = (said.get("op") == "NE") != (said.get("conj") == "Nand")
    # Of Slurm a partition is a queue, and what a node is are its features.
    alike = {"Partition": "Queue", "Architecture": "Feature", "OperatingSystem": "Feature"}
    return alike.get(name, name), text, negated, said.get("op") == "Match", "preference" in said


def less(parts, number, place):
    """The parts without one comparison."""
    rest = tuple(each for other, each in enumerate(parts[number]) if other != place)
    return [*parts[:number], *([rest] if rest else []), *parts[number + 1 :]]


def silent(parts, place, target):
    """The comparisons that are neither written nor told."""
    whole = written(parts, place, target)
    if whole is None:
        return
    told = {loss.line for loss in whole.losses}
    everything = [meant(each) for part in parts for each in part]
    number = 2  # the line before the first
    for where, part in enumerate(parts):
        for beside, each in enumerate(part):
            number += 1
            if number in told or everything.count(meant(each)) > 1:
                continue
            without = written(less(parts, where, beside), place, target)
            if without is not None and without.text == whole.text:
                yield each


@pytest.mark.parametrize("target", TARGETS)
@given(parts=PARTS, place=st.sampled_from(sorted(PLACES)))
def test_each_comparison_is_written_or_told(target, parts, place):
    assert list(silent(parts, PLACES[place], target)) == []


# What hardly any target has words for: as a whole, as a wish, under Not and in a choice.
ODDLY = (
    (("op", "GT"),), (("op", "LE"),), (("op", "Match"),), (("op", "Match"), ("conj", "Nand")),
    (("op", "GT"), ("preference", "-2")), (("op", "Match"), ("preference", "2")),
)  # fmt: skip
# Of the names that a request has for several, the standard has patterns as well.
PATTERN = ("aggregation", "Pattern")
PATTERNS = (
    (PATTERN,), (PATTERN, ("op", "NE")), (PATTERN, ("preference", "-2")),
    (PATTERN, ("preference", "2")), (("aggregation", "List"), ("op", "Match")),
)  # fmt: skip


# A pattern that a node has to match leaves all names, and one that it may not match none: an
# alternative that an odd part makes impossible would be left out for another. # decision 1146
def _odd(name, signs):
    demands = {("op", "Match"), PATTERN} & {*signs} and not {("op", "NE"), ("conj", "Nand")} & {
        *signs
    }
    return name, "[a-z]+[0-9]*" if demands else "z[a-c]+", signs


ODD = st.builds(
    _odd, st.sampled_from(("Feature", "Node", "Architecture", "Queue", "Machine")),
    st.sampled_from(ODDLY),
) | st.builds(_odd, st.sampled_from(("Feature", "Node")), st.sampled_from(PATTERNS))  # fmt: skip
# Names that stand for several, too.
LISTS = st.tuples(
    st.sampled_from(("Feature", "Node")),
    st.sampled_from(("ib,ssd", "n1,n2")),
    st.sampled_from(((), NOT, LIKED)).map(lambda signs: (("aggregation", "List"), *signs)),
)
MORE = st.lists((ONE | LISTS).map(lambda one: (one,)) | st.builds(chosen, ONE, ONE), max_size=3)


def is_lost(losses, number):
    return any(each.line == number and each.done in ("dropped", "residual") for each in losses)


# decision 1035
@pytest.mark.parametrize("target", TARGETS)
@given(parts=MORE, odd=ODD, before=st.booleans())
def test_what_a_target_cannot_say_costs_itself_alone(target, parts, odd, before):
    beside = [[odd], *parts] if before else [*parts, [odd]]
    alone, plain = written([[odd]], PLACES["job"], target), written(parts, PLACES["job"], target)
    whole = written(beside, PLACES["job"], target)
    if alone is None or plain is None or whole is None or not is_lost(alone.losses, 3):
        return
    number = 3 if before else 3 + sum(map(len, parts))
    assert is_lost(whole.losses, number)
    assert whole.text == plain.text


def ad_of(parts, policy):
    job = JOB.format(policy, PLACES["job"].format("\n".join(lines(parts))))
    [made] = to_ads(loads(job))
    return made


def lines_told(made, severity):
    return {each.line for each in made.findings if each.severity is severity}


@given(parts=MORE, odd=ODD, before=st.booleans())
def test_what_an_ad_cannot_say_costs_itself_alone_and_obeys_its_policy(parts, odd, before):
    beside = [[odd], *parts] if before else [*parts, [odd]]
    if 3 not in {each.line for each in ad_of([[odd]], "Warn").findings}:
        return
    number = 3 if before else 3 + sum(map(len, parts))
    whole = ad_of(beside, "Warn")
    assert number in lines_told(whole, Severity.WARNING)
    assert whole.ad == ad_of(parts, "Warn").ad
    is_wish = dict(odd[2]).get("preference", "").startswith("-")
    assert (number in lines_told(ad_of(beside, "Reject"), Severity.ERROR)) is not is_wish
    assert number not in {each.line for each in ad_of(beside, "Ignore").findings}


# What demands the contrary of what another term of its name says.
BESIDE = {
    "a feature and a wish": [[("Feature", "ib", NOT)], [("Feature", "ib", LIKED)]],
    "under Nand": [[("Feature", "ib", NAND)], [("Feature", "ib", LIKED)]],
    "a feature and a choice": [
        [("Feature", "ib", NOT)], [("Feature", "ib", ()), ("Feature", "ssd", ())],
    ],
    "a feature and itself": [[("Feature", "ib", NOT)], [("Feature", "ib", ())]],
    "a node and itself": [[("Node", "n1", NOT)], [("Node", "n1", ())]],
    "a queue and a choice": [[("Queue", "q", NOT)], [("Queue", "q", ()), ("Queue", "ib", ())]],
    "a partition and no queue": [[("Partition", "q", ())], [("Queue", "q", NOT)]],
    "a partition and a wish": [[("Partition", "q", ())], [("Queue", "q", LIKED)]],
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("parts", BESIDE.values(), ids=BESIDE)
@pytest.mark.parametrize("target", TARGETS)
def test_what_says_the_contrary_takes_nothing_for_told(target, parts, place):
    assert list(silent(parts, place, target)) == []


@pytest.mark.parametrize("target", ["sbatch", "sge", "slurmrest"])
@pytest.mark.parametrize("signs", [NOT, NAND])
def test_reject_refuses_a_feature_that_must_not_be_there(target, signs):
    wished = [[("Feature", "ib", signs)], [("Feature", "ib", LIKED)]]
    assert written(wished, PLACES["job"], target, "Reject") is None
    found = written(wished, PLACES["job"], target)
    assert {loss.line for loss in found.losses} >= {3, 4}
    assert found.text == written(wished[:1], PLACES["job"], target).text


# decision 1036
@pytest.mark.parametrize("target", ["sbatch", "sge", "slurmrest", "condor"])
@pytest.mark.parametrize("text, signs", [
    ("ib,ssd", (*NOT, ("aggregation", "List"))), ("i.*", (*NOT, PATTERN)),
    ("i.*", (*NAND, ("op", "Match"))),
])  # fmt: skip
def test_a_wish_for_what_cannot_be_excluded_is_not_written(target, text, signs):
    unwanted = [[("Feature", text, signs)]]
    wished = [*unwanted, [("Feature", "ib", LIKED)]]
    plain, found = written(unwanted, PLACES["job"], target), written(wished, PLACES["job"], target)
    if is_lost(plain.losses, 3):
        assert is_lost(found.losses, 4)
        assert found.text == plain.text
    other = written([*unwanted, [("Feature", "old", LIKED)]], PLACES["job"], target)
    assert other.text != plain.text


@pytest.mark.parametrize("target", ["sbatch", "slurmrest", "lsf", "condor"])
def test_a_wish_of_a_job_for_what_a_group_excludes_is_not_written(target):
    groups = (
        '<TaskGroup><Requested><Feature op="NE">ib</Feature></Requested></TaskGroup>'
        "<TaskGroup><Requested><Processors>2</Processors></Requested></TaskGroup>"
    )
    wish = f'<Requested><Feature preference="-3">ib</Feature></Requested>{groups}'
    texts = [translate(loads(JOB.format("Warn", each)), target, SETTINGS).text
             for each in (wish, groups)]  # fmt: skip
    assert texts[0] == texts[1]


@pytest.mark.parametrize("target", ["sbatch", "sge", "slurmrest", "lsf"])
def test_what_is_demanded_is_not_liked_as_well(target):
    demanded = [[("Feature", "ib", ())]]
    found = written([*demanded, [("Feature", "ib", LIKED)]], PLACES["job"], target, "Reject")
    assert found.text == written(demanded, PLACES["job"], target).text
    assert [each.reason for each in found.losses if each.line == 4] == ["it is demanded as well"]


OLD = '<Feature conj="Or" group="-1">old</Feature>'


@pytest.mark.parametrize("contrary", [
    '<Feature op="NE" group="2">ib</Feature><Feature group="-1" aggregation="List">ib,a</Feature>',
    '<Feature op="NE" group="2" aggregation="List">ib,a</Feature><Feature group="-1">ib</Feature>',
    '<Node op="NE" group="2" aggregation="Range">n[1-3]</Node><Node group="-1">n2</Node>',
    '<Feature op="NE" group="2" aggregation="Pattern">i.</Feature><Feature group="-1">ib</Feature>',
])  # fmt: skip
def test_an_alternative_that_contradicts_itself_by_several_names_is_left_out(contrary):
    asked = f"<Requested>{contrary}{OLD}</Requested>"
    found = translate(loads(JOB.format("Reject", asked)), "sbatch", SETTINGS)
    assert "--constraint=old" in found.text


def test_nodes_are_named_but_for_those_that_are_not_wanted():
    asked = '<Requested><Node aggregation="List">n1,n2</Node><Node op="NE">n1</Node></Requested>'
    for target, said in (("pbs", "host=n2"), ("torque", "nodes=n2:"), ("sbatch", "nodelist=n2")):
        text = translate(loads(JOB.format("Warn", asked)), target, SETTINGS).text
        assert said in text
        assert "list=n1" not in text
        assert "host=n1" not in text


@pytest.mark.parametrize("conj", ["And", "Nand"])
@pytest.mark.parametrize("policy", ["Reject", "Warn", "Ignore"])
def test_the_policy_of_a_request_holds_for_what_is_negated_in_it(policy, conj):
    asked = (
        f'<Requested awarenessPolicy="{policy}"><Feature>a</Feature>'
        f'<Feature conj="{conj}" op="{"EQ" if conj == "Nand" else "NE"}">ib</Feature></Requested>'
    )
    job = loads(JOB.format("Warn", asked))
    if policy == "Reject":
        with pytest.raises(Untranslatable):
            translate(job, "sbatch", SETTINGS)
    else:
        losses = translate(job, "sbatch", SETTINGS).losses
        told = [str(loss.policy) for loss in losses if loss.value == "ib"]
        assert told == ([] if policy == "Ignore" else [policy])


LISTED = '<Requested><Feature aggregation="List" {}>ib,ssd</Feature></Requested>'


@pytest.mark.parametrize("target, none, not_all", [
    ("lsf", "(!ib && !ssd)", "!(ib && ssd)"),
    ("condor", "!(TARGET.Hasib =?= true) && !(TARGET.Hasssd =?= true)",
     "!(TARGET.Hasib =?= true && TARGET.Hasssd =?= true)"),
    ("flux", '{"properties": ["^ib", "^ssd"]}',
     '{"or": [{"properties": ["^ib"]}, {"properties": ["^ssd"]}]}'),
])  # fmt: skip
def test_a_list_compared_by_NE_is_none_of_its_features_and_by_Nand_not_all(target, none, not_all):
    for how, wanted in (('op="NE"', none), ('conj="Nand"', not_all)):
        job = f"<Job><Id>1</Id><Executable>/bin/true</Executable>{LISTED.format(how)}</Job>"
        text = translate(loads(job), target, Settings(residual=False)).text
        assert wanted.replace(" ", "") in "".join(text.split())


def test_a_count_says_nothing_of_nodes_that_are_not_wanted():
    asked = '<Requested><Node aggregation="List" op="NE"{}>n1,n2</Node></Requested>'
    texts = [
        translate(loads(JOB.format("Reject", asked.format(count))), "flux", SETTINGS).text
        for count in ("", ' count="1"')
    ]
    assert texts[0] == texts[1]
    assert "n1" in texts[0]
