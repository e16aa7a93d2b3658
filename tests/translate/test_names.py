"""A name that a target would take for something else is not written (decision 1032)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_parts import OWN, REQUESTED, name_of

from sssjob.document import loads
from sssjob.errors import InvalidValue
from sssjob.registry import all_targets
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, Untranslatable, read, translate

BOTH_WAYS = [
    name for name, row in all_targets().items()
    if row.reads and row.writes and name not in ("sss", "dagman")
]  # fmt: skip
# What means something in the language of some target.
WORDS = (
    "2", "all", "any", "arch", "accelerator_model", "core", "cores", "cpus", "cput", "depend",
    "disk", "excl", "exclusive", "feature", "file", "gpu", "gpu_type", "gpus", "gres", "h",
    "h_rt", "h_stack", "h_vmem", "host", "hostname", "hosts", "local", "Machine", "mem",
    "mem_free", "memory", "mpiprocs", "ncpus", "ngpus", "nodes", "ompthreads", "OpSys", "opsys",
    "partition", "pe", "place", "pmem", "ppn", "procs", "qname", "qos", "select", "shared",
    "slots", "software", "swap_free", "swp", "tmp", "True", "type", "vmem", "vnode", "walltime",
    "ib", "a", "mf", "others", "R7",
)  # fmt: skip
SAID = (
    "<Feature>{}</Feature>", '<Feature preference="-1">{}</Feature>',
    '<Feature op="NE">{}</Feature>', '<Resource name="License" type="{}">3</Resource>',
    '<Resource name="GPU" type="{}">2</Resource>', "<Node>{}</Node>", '<Node op="NE">{}</Node>',
    "<Queue>{}</Queue>", "<Partition>{}</Partition>", "<Architecture>{}</Architecture>",
    "<OperatingSystem>{}</OperatingSystem>", "<Reservation>{}</Reservation>",
    "<Project>{}</Project>", "<QualityOfService>{}</QualityOfService>",
)  # fmt: skip
JOB = '<Job awarenessPolicy="{}"><Id>1</Id><Executable>/bin/date</Executable>{}\n{}\n</Job>'
SETTINGS = Settings(residual=False)
GROUPS = (
    "<TaskGroup><Requested>\n{}\n{}\n</Requested></TaskGroup>"
    "<TaskGroup><Requested><Processors>2</Processors></Requested></TaskGroup>"
)
NAMES = st.builds(
    lambda said, word: said.format(word), st.sampled_from(SAID), st.sampled_from(WORDS)
)
SAME = st.sampled_from(WORDS).flatmap(
    lambda word: st.lists(
        st.sampled_from(SAID).map(lambda said: said.format(word)), min_size=2, max_size=3,
        unique=True,
    )
)  # fmt: skip
BESIDE = st.lists(st.sampled_from(REQUESTED), max_size=2, unique_by=name_of)


def there_and_back(asked, target, own=(), policy="Warn"):
    """What is written, what is told of it, and what its reader makes of it; None if nothing."""
    inner = "<Requested>\n{}\n</Requested>".format("\n".join(asked))
    try:
        found = translate(loads(JOB.format(policy, "".join(own), inner)), target, SETTINGS)
    except (InvalidValue, Untranslatable):
        return None
    (heard,) = read(found.text.encode(), target)
    return found, heard


def beaten(heard):
    return [each.message for each in heard.findings if "stands behind it" in each.message]


@pytest.mark.parametrize("target", BOTH_WAYS)
@given(names=SAME, beside=BESIDE, own=st.lists(st.sampled_from(OWN), max_size=2, unique_by=name_of))
def test_what_is_written_leaves_nothing_behind_another(target, names, beside, own):
    if (back := there_and_back((*names, *beside), target, own)) is not None:
        assert beaten(back[1]) == []


def is_said(item, job):
    """Whether a job says what a property asks for; as an option that is kept, where it is one."""
    known = ("name", "type", "op", "aggregation")
    told = {key: value for key, value in item.attributes.items() if key in known}
    license_ = told.get("type", "")
    for each in (*job.requested, *job.properties):
        same = each.text.strip() == item.text and all(
            each.attributes.get(key) == value for key, value in told.items()
        )
        if each.name in (item.name, {"Partition": "Queue"}.get(item.name)) and same:
            return True
        if each.name == "Node" == item.name and item.text in each.text.split(","):
            return True
        # Whether a resource is a licence, a script for PBS or Grid Engine does not say.
        kept = each.name == "Extension" and each.attributes.get("name") == f"-l {license_}"
        of_records = each.name == "Resource" and license_ in each.attributes.values()
        if item.name == "Resource" and (kept or of_records):
            return True
    return False


def lost(asked, target):
    """What is neither told nor read again."""
    if (back := there_and_back(asked, target)) is None:
        return []
    found, heard = back
    told = {loss.line for loss in found.losses}
    items = loads(f"<Job><Requested>{''.join(asked)}</Requested></Job>").requested
    return [
        each.text for number, each in enumerate(items, 3)
        if number not in told and not is_said(each, heard.job)
    ]  # fmt: skip


@pytest.mark.parametrize("target", BOTH_WAYS)
def test_a_name_is_read_as_what_it_was_or_it_is_told(target):
    asked = [said.format(word) for said in SAID for word in WORDS]
    assert [each for each in asked if lost([each], target)] == []


@pytest.mark.parametrize("target", BOTH_WAYS)
@given(names=SAME)
def test_a_name_for_two_things_is_read_as_both_or_it_is_told(target, names):
    assert lost(names, target) == []


@pytest.mark.parametrize("target, asked, line", [
    ("sge", ["<Feature>gpu</Feature>", '<Resource name="GPU">2</Resource>'], "-l gpu=2"),
    ("sge", ["<Feature>x</Feature>", '<Resource name="License" type="x">2</Resource>'], "-l x=2"),
    ("sge", ["<Feature>h_rt</Feature>", "<Duration>60</Duration>"], "-l h_rt=60"),
    ("pbs", ["<Feature>ncpus</Feature>", "<Processors>4</Processors>"], "ncpus=1:"),
    ("pbs", ["<Feature>NCPUS</Feature>", "<Processors>4</Processors>"], "ncpus=1:"),
    ("lsf", ["<Feature>mem</Feature>", "<Memory>5</Memory>"], "-R rusage[mem=5MB]"),
    ("pbs", ['<Resource name="License" type="walltime">2</Resource>', "<Duration>60</Duration>"],
     "-l walltime=00:01:00"),
    ("torque", ["<Feature>exclusive</Feature>", '<Resource name="GPU">2</Resource>'], "1:gpus=2\n"),
    ("lsf", ['<Resource name="License" type="mem">2</Resource>', "<Memory>5</Memory>"],
     "-R rusage[mem=5MB]"),
])  # fmt: skip
def test_of_two_things_of_one_name_the_amount_is_asked_for(target, asked, line):
    found, heard = there_and_back(asked, target)
    assert line in found.text
    assert "its name means something else there" in {loss.reason for loss in found.losses}
    assert there_and_back(asked, target, policy="Reject") is None
    assert beaten(heard) == []


FOO = '<Resource name="License" type="foo">3</Resource>'
H100 = '<Resource name="GPU" type="h100">2</Resource>'


# decision 1037
@pytest.mark.parametrize("target, beside", [
    ("sge", FOO), ("pbs", FOO), ("pbs", FOO.replace("foo", "FOO")), ("lsf", FOO), ("flux", H100),
    ("flux-canonical", H100),
])  # fmt: skip
@pytest.mark.parametrize("said", [
    "<Feature>{}</Feature>", '<Feature op="NE">{}</Feature>',
    '<Feature preference="-1">{}</Feature>', '<Feature aggregation="List" op="NE">{},x</Feature>',
])  # fmt: skip
@pytest.mark.parametrize("where", ["<Requested>\n{}\n{}\n</Requested>", GROUPS])
def test_a_feature_has_no_name_that_is_an_amount_there(target, beside, said, where):
    feature = said.format("h100" if beside is H100 else "foo")
    texts = [
        translate(loads(JOB.format("Warn", "", where.format(*both))), target, SETTINGS)
        for both in ((beside, feature), (beside, ""))
    ]
    assert texts[0].text == texts[1].text
    assert 4 in {loss.line for loss in texts[0].losses}
    alone = there_and_back([feature], target)[0]
    assert alone.text != there_and_back([], target)[0].text or 3 in {x.line for x in alone.losses}


COGS = '<Resource name="{}">2</Resource>'
LICENCE = '<Resource name="License" type="{}">2</Resource>'
FEATURE = "<Feature>{}</Feature>"
# What HTCondor compares as texts, without case (decision 1049).
TEXTS = (
    ("<Node>{}</Node>", '<Node op="NE">{}</Node>'), ('<Node op="NE">{}</Node>', "<Node>{}</Node>"),
    ("<Machine>{}</Machine>", '<Node op="NE">{}</Node>'),
    ("<Node>{}</Node>", '<Node op="NE" aggregation="List">x,{}</Node>'),
    ('<Node aggregation="List" count="1">{},x</Node>', '<Node conj="Nand">{}</Node>'),
    ("<Node>{}</Node>", '<Node preference="-1">{}</Node>'),
    *((f"<{name}>{{}}</{name}>", f'<{name} op="NE">{{}}</{name}>')
      for name in ("Machine", "Architecture", "OperatingSystem")),
)  # fmt: skip


@pytest.mark.parametrize("target, first, second", [
    ("condor", COGS, COGS), ("condor", LICENCE, LICENCE), ("pbs", LICENCE, LICENCE),
    ("condor", FEATURE, '<Feature op="NE">{}</Feature>'),
    ("condor", FEATURE, '<Feature preference="-1">{}</Feature>'),
    ("condor", '<Feature op="NE">{}</Feature>', FEATURE), ("pbs", LICENCE, FEATURE),
    ("condor", FEATURE, '<Feature aggregation="List" op="NE">{},x</Feature>'),
    *(("condor", *pair) for pair in TEXTS),
])  # fmt: skip
def test_of_two_names_that_differ_by_case_alone_the_second_is_told(target, first, second):
    asked = [first.format("IB"), second.format("ib")]
    found = there_and_back(asked, target)[0]
    assert found.text == there_and_back(asked[:1], target)[0].text
    assert 4 in {loss.line for loss in found.losses if loss.done == "dropped"}
    is_wish = "preference" in second
    assert (there_and_back(asked, target, policy="Reject") is None) is not is_wish
    if target == "condor":
        inner = "<Requested>\n{}\n</Requested>"
        made, alone = (
            to_ads(loads(JOB.format("Warn", "", inner.format("\n".join(each)))))[0]
            for each in (asked, asked[:1])
        )
        assert made.ad == alone.ad
        assert 4 in {each.line for each in made.findings}


@pytest.mark.parametrize("target", ["condor", "pbs"])
def test_two_features_that_differ_by_case_alone_are_one_there(target):
    asked = [FEATURE.format("IB"), FEATURE.format("ib"),
             '<Feature aggregation="List">Ib,ssd</Feature>']  # fmt: skip
    found = there_and_back(asked, target, policy="Reject")[0]
    assert {loss.line for loss in found.losses if loss.done == "converted"} == {4, 5}
    assert "ssd" in found.text
    assert "no case" not in str(there_and_back(asked, "sbatch")[0].losses)


# decision 1049
@pytest.mark.parametrize("said", [
    ["<Architecture>amd64</Architecture>", '<Architecture op="NE">x86_64</Architecture>'],
    ["<Machine>m</Machine>", '<Node op="NE">m</Node>'],
])  # fmt: skip
def test_what_means_the_same_to_htcondor_is_told_where_it_is_denied(said):
    found = there_and_back(said, "condor")[0]
    assert found.text == there_and_back(said[:1], "condor")[0].text
    assert [loss.line for loss in found.losses if "means the same there" in loss.reason] == [4]
    assert there_and_back(said, "condor", policy="Reject") is None
    both = [said[0], said[1].replace(' op="NE"', "")]
    assert not any(loss.line == 4 and loss.done == "dropped"
                   for loss in there_and_back(both, "condor")[0].losses)  # fmt: skip


# decision 1039
@pytest.mark.parametrize("target, said, named", [
    ("condor", [FEATURE.format("IB"), FEATURE.format("ib")], [FEATURE.format("IB")]),
    ("condor", ['<Feature aggregation="List">x,IB,ib</Feature>'],
     ['<Feature aggregation="List">x,IB</Feature>']),
    ("condor", ['<Feature aggregation="List" op="NE">x,IB,ib</Feature>'],
     ['<Feature aggregation="List" op="NE">x,IB</Feature>']),
    ("condor", ['<Feature op="NE">IB</Feature>', '<Feature op="NE">ib</Feature>'], None),
    ("pbs", [FEATURE.format("IB"), FEATURE.format("ib")], [FEATURE.format("IB")]),
    ("pbs", ['<Feature aggregation="List">x,IB,ib</Feature>'],
     ['<Feature aggregation="List">x,IB</Feature>']),
])  # fmt: skip
def test_names_of_a_list_are_told_apart_as_those_of_several_features(target, said, named):
    found = there_and_back(said, target, policy="Reject")[0]
    assert [each.done for each in found.losses if "no case" in each.reason] == ["converted"]
    if len(said) == 1:
        assert found.text == there_and_back(named, target)[0].text
    else:
        assert found.text.count("HasIB") + found.text.count("IB=True") == 1


@pytest.mark.parametrize("first, second", [(COGS, COGS), (LICENCE, LICENCE)])
@pytest.mark.parametrize("group", ["{}", "<Requested>\n{}\n</Requested>"])
def test_a_job_and_its_only_group_have_no_names_that_differ_by_case_alone(first, second, group):
    said = f"{first.format('Cogs')}\n<TaskGroup>{group.format(second.format('cogs'))}</TaskGroup>"
    plain = loads(JOB.format("Warn", "", first.format("Cogs")))
    made = {policy: to_ads(loads(JOB.format(policy, "", said)))[0] for policy in ("Warn", "Reject")}
    assert made["Warn"].ad == to_ads(plain)[0].ad
    assert any("no case" in each.message for each in made["Warn"].findings)
    assert made["Warn"].runs
    assert not made["Reject"].runs


@pytest.mark.parametrize("name", ["a", "s", "q", "p", "mf", "tmp", "re", "core", "vf", "rerun"])
@pytest.mark.parametrize("said", SAID[:4])
def test_a_shortcut_of_grid_engine_is_no_name_of_a_feature_or_licence(name, said):
    found = there_and_back([said.format(name)], "sge")[0]
    assert f"-l {name}=" not in found.text
    assert 3 in {loss.line for loss in found.losses}
