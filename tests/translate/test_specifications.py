# ruff: noqa: E501 (a case is a line)
"""Job specifications of JSON and XML: valid by schemas of others, and the same when read back."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from lxml import etree
from translated import FULL, JOBS, comes_back, job_of, requested

from sssjob.defaults import resolve
from sssjob.document import dumps, loads
from sssjob.document.canonical import canon
from sssjob.errors import Finding, InvalidValue
from sssjob.expression import parse
from sssjob.formats import psij
from sssjob.systems.flux import jobspec
from sssjob.translate import Done, Settings, Untranslatable, read, recognise, translate

jsonschema = pytest.importorskip("jsonschema")
referencing = pytest.importorskip("referencing")

ORACLES = Path(__file__).parents[1] / "data" / "oracles"
TARGETS = ("slurmrest", "jsdl", "psij", "flux", "flux-canonical")


def schema(name):
    return json.loads((ORACLES / f"{name}.schema.json").read_text())


def flux(name):
    waits = referencing.Resource.from_contents(schema("flux-dependency"))
    others = referencing.Registry().with_resource("file:data/spec_26/schema.json", waits)
    return jsonschema.Draft7Validator(schema(name), registry=others)


FLUX = {"flux": flux("flux-jobspec-v1"), "flux-canonical": flux("flux-jobspec-canonical")}
SLURM = {
    version: jsonschema.Draft7Validator(schema(f"slurm-job-submit-v0.0.{version}"))
    for version in (41, 43, 45)
}
JSDL = etree.XMLSchema(
    etree.fromstring(
        f"""<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema">
        <xsd:import namespace="http://schemas.ggf.org/jsdl/2005/11/jsdl"
          schemaLocation="{(ORACLES / "jsdl-1.0.xsd").as_uri()}"/>
        <xsd:import namespace="http://schemas.ggf.org/jsdl/2005/11/jsdl-posix"
          schemaLocation="{(ORACLES / "jsdl-posix-1.0.xsd").as_uri()}"/></xsd:schema>"""
    )
)


def faults(target, text):
    """What a schema, and what it misses, says of a text."""
    if target == "jsdl":
        JSDL.validate(etree.fromstring(text.encode()))
        return [str(error) for error in JSDL.error_log]
    form = json.loads(text)
    if target == "psij":
        return psij_faults(form)
    if target == "slurmrest":
        found = [e.message for each in SLURM.values() for e in each.iter_errors(form)]
        return [*found, *(f"no field {name}" for name in form["job"] if not known(name))]
    found = [error.message for error in FLUX[target].iter_errors(form)]
    return [*found, *jobspec.faults(form, canonical=target == "flux-canonical")]


def known(name):
    """Whether all versions of Slurm's interface have a field."""
    return all(
        name in schema(f"slurm-job-submit-v0.0.{version}")["components"]["schemas"][
            f"v0.0.{version}_job_desc_msg"
        ]["properties"]
        for version in SLURM
    )  # fmt: skip


KEYS = {
    "": {"executable", "arguments", "directory", "name", "inherit_environment", "environment",
         "stdin_path", "stdout_path", "stderr_path", "resources", "attributes"},
    "resources": {"__version", "node_count", "process_count", "processes_per_node",
                  "cpu_cores_per_process", "gpu_cores_per_process", "memory"},
    "attributes": {"duration", "queue_name", "account", "reservation_id", "custom_attributes"},
}  # fmt: skip


def psij_faults(form):
    """What PSI/J's library refuses: other keys, other types, counts that do not agree."""
    found = []
    for place, keys in KEYS.items():
        inside = form.get(place, {}) if place else form
        found += [f"{place} has no {name}" for name in inside if name not in keys]
    counts = form.get("resources", {})
    nodes, tasks, each = (
        counts.get(name) for name in ("node_count", "process_count", "processes_per_node")
    )
    if nodes and tasks and each and nodes * each != tasks:
        found.append(f"{tasks} processes are not {nodes} times {each}")
    if nodes and tasks and tasks % nodes:
        found.append(f"{tasks} processes on {nodes} nodes")
    if each and tasks and tasks % each:
        found.append(f"{tasks} processes, {each} on each node")
    if "duration" in form.get("attributes", {}):
        assert re.fullmatch(r"[0-9]+ s", form["attributes"]["duration"])
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_a_job_with_everything_is_valid_and_comes_back(target):
    job = loads(FULL)
    text, losses = translate(job, target)
    assert faults(target, text) == []
    assert recognise(text.encode()) == target
    (back,) = read(text.encode())
    assert not back.findings
    assert canon(back.job) == canon(resolve(job).block)
    assert {loss.done for loss in losses} <= set(Done)
    assert "/Job/Extension" in [loss.path for loss in losses]


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("target", TARGETS)
@given(tree=JOBS)
def test_whatever_is_written_is_valid(target, residual, tree):
    settings = Settings(unstated="Ignore", residual=residual)
    try:
        text = translate(job_of(tree), target, settings).text
    except (InvalidValue, Untranslatable):
        assume(False)
    assert faults(target, text) == []


EMPTY = etree.fromstring(
    "<Job><OutputFile/><Name/><Environment/><DeadlineTime>0</DeadlineTime></Job>"
)
ODD = etree.fromstring(
    """<Job><NotificationList>JobEnd,JobStart</NotificationList><OutputFile redirectList="Append"/>
    <Node delimiter=";" aggregation="List">a,b</Node></Job>"""
)
RANGE = etree.fromstring(
    """<Job><TaskDistribution type="TasksPerNode">2</TaskDistribution><Requested>
    <NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount><Memory units="GB">3</Memory>
    <Resource name="GPU">4</Resource></Requested></Job>"""
)
NEGATIVE = etree.fromstring("<Job><Requested><Processors>-1</Processors></Requested></Job>")


@pytest.mark.parametrize("target", TARGETS)
@given(tree=JOBS)
@example(tree=EMPTY)
@example(tree=NEGATIVE)
@example(tree=ODD)
@example(tree=RANGE)
def test_what_was_read_means_the_same_when_it_is_written_again(target, tree):
    """Without a residual the first writing decides; from then on nothing changes any more."""
    settings = Settings(unstated="Ignore", residual=False)
    try:
        first = translate(job_of(tree), target, settings).text
        (once,) = read(first.encode(), target, settings)
        again = translate(once.job, target, settings).text
    except (InvalidValue, Untranslatable):
        assume(False)
    assert again == first, dumps(once.job)


@pytest.mark.parametrize("target", TARGETS)
def test_reject_writes_nothing_and_lists_everything(target):
    job = loads(FULL.replace('"Warn"', '"Reject"'))
    with pytest.raises(Untranslatable) as refused:
        translate(job, target)
    paths = {loss.path for loss in refused.value.losses if loss.refuses}
    assert "/Job/Extension" in paths
    assert "/Job/Id" not in paths


@pytest.mark.parametrize("target", TARGETS)
def test_hostile_texts_stay_what_they_are(target):
    """Neither a directive nor a line of the residual can be made by a value."""
    name = "x\n#SBATCH --uid=0\n# sssjob: Id - <Job><Id>9</Id></Job>\u2028# sssjob: Id - x"
    words = "-c 'a\n# sssjob: Queue - <Job><Queue>root</Queue></Job>\nb'"
    job = loads(
        "<Job awarenessPolicy='Ignore'><Name/><Executable>/bin/sh</Executable><Arguments/></Job>"
    )
    items = {"Name": name, "Arguments": words}
    job = job.holding(
        type(item)(item.name, items.get(item.name, item.text)) for item in job.properties
    )
    text, _ = translate(job, target)
    assert faults(target, text) == []
    (back,) = read(text.encode(), target)
    assert (back.job.get("Queue"), back.job.id) == ("", "")
    assert back.job["Arguments"].text == words
    assert back.job.get("Name") == name


def test_a_program_is_needed_where_the_target_runs_one():
    job = loads("<Job awarenessPolicy='Warn'><Id>1</Id><Executable>#File</Executable></Job>")
    for target in ("flux", "flux-canonical", "slurmrest"):
        with pytest.raises(InvalidValue, match="Executable is a path"):
            translate(job, target)
    assert json.loads(translate(job, "psij", Settings(residual=False)).text) == {}


@pytest.mark.parametrize("id_", ["script", "run.sh"])
def test_a_script_that_travels_with_a_job_is_submitted_and_comes_back(id_):
    content = b"#!/bin/bash\nmodule load x\n# sssjob: Id - <Job><Id>9</Id></Job>\nsrun app\n"
    job = loads(f"<Job><Id>1</Id><Executable>#{id_}</Executable><Queue>long</Queue></Job>")
    text, _ = translate(job, "slurmrest", Settings(files={id_: content}))
    assert faults("slurmrest", text) == []
    (back,) = read(text.encode())
    assert back.files == {id_: content}
    assert canon(back.job) == canon(job)


# Each with what a job object says of it.
FOREIGN = [
    pytest.param(
        "psij",
        {"executable": "/bin/date", "resources": {"__version": 1, "node_count": 2,
         "processes_per_node": 3, "exclusive_node_use": True},
         "attributes": {"duration": "01:30", "custom_attributes": {"slurm.constraint": "ib"}},
         "launcher": "mpirun"},
        ["<TaskCount>6<", "<NodeCount>2<", "<Duration>5400<",
         'name="attributes/custom_attributes/slurm.constraint">"ib"<', 'name="launcher">"mpirun"<',
         'name="resources/exclusive_node_use">true<'],
        [], id="psij",
    ),
    pytest.param(
        "psij", {"executable": "/x", "attributes": {"duration": "3661.5 s"},
                 "resources": {"__version": 2, "node_count": 0, "process_count": "4"}},
        ["<Executable>/x<"], ["duration", "__version", "node_count", "process_count"],
        id="psij with what it is not",
    ),
    pytest.param(
        "flux",
        {"version": 1, "resources": [{"type": "slot", "count": 4, "label": "t", "with": [
            {"type": "core", "count": 2}]}], "tasks": [{"command": ["app", "-x"], "slot": "t",
         "count": {"per_slot": 1}}], "attributes": {"system": {"duration": 0, "constraints": {
            "and": [{"properties": ["ib"]}, {"not": [{"hostlist": ["n1"]}]}]},
            "dependencies": [{"scheme": "afterok", "value": "f2"}, {"scheme": "begin-time",
            "value": "1700000000.5"}, {"scheme": "singleton", "value": "x"}]}}},
        ["<TaskCount>4<", "<Executable>app<", "<Feature>ib<",
         '<Dependency condition="OnSuccess">1<',
         "<EligibleTime>1700000000<", '<Node op="NE">n1<', 'name="attributes/system/dependencies"'],
        [], id="flux",
    ),
    pytest.param(
        "flux",
        {"version": 1, "resources": [{"type": "slot", "count": 1, "label": "t", "with": [
            {"type": "gpu", "count": 1}]}], "tasks": [{"command": ["app"], "slot": "u",
         "count": {"per_slot": 1}}], "attributes": {"system": {"dependencies": [7]}}},
        ["<Executable>app<"],
        ["duration is missing", "has no core", 'names the slot "u"', "no dependency"],
        id="flux that its schema does not refuse",
    ),
    pytest.param(
        "flux-canonical",
        {"version": 999, "resources": [{"type": "node", "count": {"min": 2, "max": 4,
         "operator": "+", "operand": 1}, "with": [{"type": "slot", "count": 3, "label": "t",
         "with": [{"type": "core", "count": 1}]}]}], "tasks": [{"command": ["a"], "slot": "t",
         "count": {"total": 7}}], "attributes": {}},
        ['<NodeCount op="GE">2<', '<NodeCount op="LE">4<', "<TaskCount>7<"], [], id="canonical",
    ),
    pytest.param(
        "slurmrest",
        {"job": {"script": "#!/bin/bash\nmodule load x\nsrun app\n", "environment": {"A": "1"},
         "time_limit": 90, "memory_per_cpu": {"set": True, "number": 100}, "tasks": 4,
         "dependency": "afterok:1,singleton", "shared": ["user"], "name": "a"}},
        ["<Executable>#script<", '<Duration>5400<', '<Memory units="MB">400<',
         '<Dependency condition="OnSuccess">1<', 'name="job/dependency">"singleton"<',
         'name="job/shared">["user"]<'],
        ["job.dependency is kept as it is"], id="slurmrest",
    ),
]  # fmt: skip


@pytest.mark.parametrize("target, form, said, noted", FOREIGN)
def test_what_others_write_is_read(target, form, said, noted):
    data = json.dumps(form).encode()
    (found,) = read(data, target)
    document = dumps(found.job).replace("&quot;", '"')
    assert [each for each in said if each not in document] == [], document
    told = " ".join(each.message for each in found.findings)
    assert [each for each in noted if each not in told] == [], told
    assert len(found.findings) == len(noted)


@pytest.mark.parametrize("target, form, said, noted", FOREIGN[:1] + FOREIGN[2:3])
def test_what_a_job_has_no_word_for_is_written_back(target, form, said, noted):
    (found,) = read(json.dumps(form).encode(), target)
    again = json.loads(translate(found.job, target, Settings(unstated="Ignore")).text)
    (back,) = read(json.dumps(again).encode(), target)
    assert canon(back.job) == canon(found.job)
    if target == "psij":
        assert again["launcher"] == "mpirun"
        assert again["attributes"]["custom_attributes"]["slurm.constraint"] == "ib"


# What a job says, and the fields of a request of slurmrestd that say it, both ways.
# fmt: off
SLURM_FIELDS = [
    (requested("<Queue>a</Queue><Queue conj='Or'>b</Queue>"), {"partition": "a,b"}),
    ("<Queue>a</Queue>", {"partition": "a"}),
    (requested("<Feature>ib</Feature><Feature>nps:1</Feature>"), {"constraints": "ib&nps:1"}),
    (requested("<Feature>ib</Feature><Feature conj='Or'>ssd</Feature>"), {"constraints": "ib|ssd"}),
    (requested("<Feature>big</Feature><Feature group='1'>ib</Feature><Feature group='-1' conj='Or'>ssd</Feature>"),
     {"constraints": "big&(ib|ssd)"}),
    (requested("<Feature preference='-1'>ssd</Feature>"), {"prefer": "ssd"}),
    (requested("<Feature>ib</Feature><Feature preference='-1'>ssd</Feature>"),
     {"constraints": "ib", "prefer": "ib&ssd"}),
    (requested("<Node op='NE' aggregation='Range'>n[1-3]</Node>"), {"excluded_nodes": ["n1", "n2", "n3"]}),
    ("<Priority>5</Priority>", {"priority": {"set": True, "infinite": False, "number": 5}}),
    ("<Priority>-5</Priority>", {"nice": 5}),
]
# What no job object says stays where it stood: fields of a request.
SLURM_KEPT = [
    {"constraints": "[a|b]"}, {"constraints": "a|b,c"}, {"constraints": "ib", "prefer": "ssd"}, {"prefer": "a|b"},
    {"nice": -5}, {"nice": "5"},
]
# fmt: on
_PLAIN = {"script", "environment"}


@pytest.mark.parametrize(("inner", "fields"), SLURM_FIELDS)
def test_choices_wishes_and_nodes_of_slurmrestd_are_said_both_ways(inner, fields):
    job = loads(f"<Job><Executable>/bin/true</Executable>{inner}</Job>")
    text, losses = translate(job, "slurmrest", Settings(residual=False))
    assert faults("slurmrest", text) == []
    written = json.loads(text)["job"]
    assert {name: value for name, value in written.items() if name not in _PLAIN} == fields
    assert [loss.done for loss in losses if loss.done is not Done.CONVERTED] == []
    (back,) = read(text.encode(), "slurmrest")
    assert canon(back.job) == canon(job)


NAMES = ("a", "a b", "it's", "a,b", "%j", "$X", "-q", "*", "(null)", "all", "a@b", "", " ", "x/y")
SAID_BY = {
    **{name: f"<{name}>{{}}</{name}>" for name in (
        "Name", "Project", "QualityOfService", "Queue", "Partition", "Machine", "Reservation",
        "InitialWorkingDirectory",
    )},
    "NotificationList": '<NotificationList uri="mailto:{}">JobEnd</NotificationList>',
}  # fmt: skip


@pytest.mark.parametrize("name", SAID_BY)
def test_slurmrestd_and_sbatch_take_and_refuse_the_same_names(name):
    for text in NAMES:
        job = loads(f"<Job><Executable>/bin/x</Executable>{SAID_BY[name].format(text)}</Job>")
        found = {}
        for target in ("sbatch", "slurmrest"):
            written, losses = translate(job, target, Settings(residual=False))
            (back,) = read(written.encode(), target)
            said = back.job.get("Queue" if name == "Partition" else name)
            uris = [item.attributes for item in back.job.properties if item.name == name]
            found[target] = said, uris, [(loss.path, loss.done, loss.reason) for loss in losses]
        assert found["sbatch"] == found["slurmrest"], text


@pytest.mark.parametrize("fields", SLURM_KEPT)
def test_what_slurmrestd_takes_and_no_job_says_is_written_back(fields):
    script = {"script": "#!/bin/sh\nexec /bin/true\n", "environment": ["A=1"]}
    (found,) = read(json.dumps({"job": {**script, **fields}}).encode(), "slurmrest")
    again = json.loads(translate(found.job, "slurmrest", Settings(residual=False)).text)["job"]
    assert {name: again[name] for name in fields} == fields


# What a job asks of its nodes, and the constraint of RFC 31 that says it, both ways.
# fmt: off
CONSTRAINTS = [
    ("<Feature>ib</Feature><Feature>ssd</Feature>", {"properties": ["ib", "ssd"]}),
    ("<Feature>ib</Feature><Feature op='NE'>old</Feature>", {"properties": ["ib", "^old"]}),
    ("<Feature>ib</Feature><Feature conj='Or'>ssd</Feature>", {"or": [{"properties": ["ib"]}, {"properties": ["ssd"]}]}),
    ("<Feature>big</Feature><Feature group='1'>ib</Feature><Feature group='-1' conj='Or'>ssd</Feature>",
     {"and": [{"properties": ["big"]}, {"or": [{"properties": ["ib"]}, {"properties": ["ssd"]}]}]}),
    ("<Feature>ib</Feature><Node conj='Or'>n1</Node>", {"or": [{"properties": ["ib"]}, {"hostlist": ["n1"]}]}),
    ("<Node op='NE'>n1</Node>", {"not": [{"hostlist": ["n1"]}]}),
    ("<Node op='NE' aggregation='List'>n1,n2</Node>", {"not": [{"hostlist": ["n1", "n2"]}]}),
    ("<Feature group='1'>a</Feature><Feature group='-1'>b</Feature><Feature group='1' conj='Or'>c</Feature><Feature op='NE' group='-1'>d</Feature>",
     {"or": [{"properties": ["a", "b"]}, {"properties": ["c", "^d"]}]}),
]
# Numbers of nodes of which any will do, as a set of RFC 22.
SETS = [
    ("<NodeCount>12</NodeCount><NodeCount conj='Or'>16</NodeCount>", "12,16"),
    ("<NodeCount group='1' op='GE'>2</NodeCount><NodeCount op='LE' group='-1'>4</NodeCount><NodeCount conj='Or'>8</NodeCount>", "2-4,8"),
    ("<NodeCount>5</NodeCount><NodeCount conj='Or'>5</NodeCount>", 5),
]
# What is kept as it stands: no request says it.
CONSTRAINTS_KEPT = [
    {"ranks": ["0-3"]}, {"not": [{"properties": ["a"]}, {"properties": ["b"]}]}, {"or": []}, {"properties": ["a b"]},
    {"xor": [{"properties": ["a"]}]}, {"or": [{"properties": ["a"]}, {"ranks": ["1"]}]}, {"or": {"properties": ["a"]}},
    {"properties": ["a"], "hostlist": ["n1"]}, {"hostlist": ["n["]}, {"not": [7]},
]
# fmt: on


@pytest.mark.parametrize("target", ["flux", "flux-canonical"])
@pytest.mark.parametrize(("inner", "constraint"), CONSTRAINTS)
def test_constraints_of_flux_are_said_both_ways(inner, constraint, target):
    job = loads(f"<Job><Executable>/bin/true</Executable>{requested(inner)}</Job>")
    text, losses = translate(job, target, Settings(residual=False))
    assert json.loads(text)["attributes"]["system"]["constraints"] == constraint
    assert (faults(target, text), losses) == ([], ())
    (back,) = read(text.encode())
    asked = of_request(back.job)
    assert str(asked) == str(of_request(job))


@pytest.mark.parametrize(("inner", "count"), SETS)
def test_a_choice_of_numbers_of_nodes_is_a_set_in_a_canonical_jobspec(inner, count):
    job = loads(f"<Job><Executable>/bin/true</Executable>{requested(inner)}</Job>")
    text, losses = translate(job, "flux-canonical", Settings(residual=False))
    assert json.loads(text)["resources"][0]["count"] == count
    assert json.loads(text)["tasks"][0]["count"] == {"per_slot": 1}
    assert (faults("flux-canonical", text), losses) == ([], ())
    (back,) = read(text.encode())
    assert translate(back.job, "flux-canonical", Settings(residual=False)).text == text
    (whole,) = read(translate(job, "flux-canonical").text.encode())
    assert canon(whole.job) == canon(job)


def test_version_1_has_no_sets_so_that_one_number_is_asked_for_and_told():
    job = loads(f"<Job><Executable>/bin/true</Executable>{requested(SETS[0][0])}</Job>")
    text, losses = translate(job, "flux")
    assert json.loads(text)["resources"][0]["count"] in (12, 16)
    assert [loss.path for loss in losses if "alternative" in loss.reason]


@pytest.mark.parametrize(
    "count", ["12,", "4-2,6", "0,1", "1,x", "[1,2", ",", "9" * 12 + ",1", "1" + ",2" * 2000]
)
def test_a_count_that_is_no_set_is_told(count):
    job = loads(f"<Job><Executable>/x</Executable>{requested('<NodeCount>2</NodeCount>')}</Job>")
    form = json.loads(translate(job, "flux-canonical", Settings(residual=False)).text)
    form["resources"][0]["count"] = count
    (found,) = read(json.dumps(form).encode())
    assert ["number, a range, or a set" in each.message for each in found.findings] == [True]


@pytest.mark.parametrize("constraint", CONSTRAINTS_KEPT)
def test_constraints_of_flux_that_no_request_says_are_written_back(constraint):
    job = loads("<Job><Executable>/bin/true</Executable></Job>")
    form = json.loads(translate(job, "flux").text)
    form["attributes"]["system"]["constraints"] = constraint
    (found,) = read(json.dumps(form).encode())
    again = json.loads(translate(found.job, "flux", Settings(residual=False)).text)
    if constraint == {"or": []}:  # which says nothing
        assert "constraints" not in again["attributes"]["system"]
    else:
        assert again["attributes"]["system"]["constraints"] == constraint


def of_request(job):
    """What a job requests of its nodes, as an expression."""
    known = [item for item in job.requested if item.name in ("Feature", "Node")]
    return parse(known)


def test_names_of_nodes_that_are_none_are_told():
    form = {"job": {"script": "x", "required_nodes": ["./a", ""], "excluded_nodes": 7.5}}
    (found,) = read(json.dumps(form).encode(), "slurmrest")
    assert [each.path for each in found.findings] == ["/job/required_nodes"]


# What a job asks for, and the values and ranges of JSDL, of which any will do, both ways.
# fmt: off
VALUES = [
    ("<Processors>4</Processors><Processors conj='Or'>8</Processors>", "TotalCPUCount", ["=4", "=8"]),
    ("<Processors>4</Processors><Processors conj='Or' group='1' op='GE'>8</Processors><Processors op='LE' group='-1'>16</Processors>",
     "TotalCPUCount", ["=4", "8-16"]),
    ("<NodeCount op='LE'>2</NodeCount><NodeCount conj='Or'>5</NodeCount><NodeCount conj='Or' op='GE'>9</NodeCount>",
     "TotalResourceCount", ["-2", "9-", "=5"]),
    ("<Memory units='MB' op='LE'>2</Memory><Memory units='MB' conj='Or' op='LE'>3</Memory>", "TotalPhysicalMemory", ["-3145728"]),
    ("<Network op='GE'>1000</Network>", "IndividualNetworkBandwidth", ["1000-"]),
]
# What has no RangeValue, so that the best alternative is written.
NO_VALUES = [
    "<Processors>4</Processors><Processors conj='Or' op='NE'>8</Processors>",
    "<Processors>4</Processors><Feature conj='Or'>big</Feature>",
    "<Processors>4</Processors><Processors conj='Or'>-8</Processors>",
]
# fmt: on


def values_of(text, name):
    """The numbers and ranges of a RangeValue."""
    found = etree.fromstring(text.encode()).find(f".//{{*}}{name}")
    ends = [("".join(f"-{end.text}" for end in each)[1:] or each.text, each.tag) for each in found]
    shown = {"Exact": "={}", "Range": "{}", "UpperBoundedRange": "-{}", "LowerBoundedRange": "{}-"}
    return [shown[etree.QName(tag).localname].format(value) for value, tag in ends]


@pytest.mark.parametrize(("inner", "name", "values"), VALUES)
def test_several_values_of_jsdl_are_said_both_ways(inner, name, values):
    job = loads(f"<Job><Executable>/bin/true</Executable>{requested(inner)}</Job>")
    text, losses = translate(job, "jsdl", Settings(residual=False))
    assert (values_of(text, name), faults("jsdl", text), losses) == (values, [], ())
    (back,) = read(text.encode())
    assert translate(back.job, "jsdl", Settings(residual=False)).text == text
    (whole,) = read(translate(job, "jsdl").text.encode())
    assert canon(whole.job) == canon(job)


@pytest.mark.parametrize("inner", NO_VALUES)
def test_a_choice_that_jsdl_cannot_say_is_told(inner):
    job = loads(f"<Job><Executable>/bin/true</Executable>{requested(inner)}</Job>")
    text, losses = translate(job, "jsdl")
    assert values_of(text, "TotalCPUCount") == ["=4"]
    assert [loss.path for loss in losses if "alternative" in loss.reason]
    (back,) = read(text.encode())
    assert canon(back.job) == canon(job)


def test_a_bandwidth_with_units_is_told():
    job = loads("<Job><Requested><Network units='MB'>5</Network></Requested></Job>")
    text, losses = translate(job, "jsdl", Settings(residual=False))
    assert "Network" not in text
    assert ["bits a second" in loss.reason for loss in losses] == [True]


def test_each_job_definition_is_a_job():
    texts = [
        translate(loads(f"<Job><Name>j{number}</Name></Job>"), "jsdl").text for number in (1, 2)
    ]
    inner = "".join(text.partition("?>")[2] for text in texts)
    found = [*read(f"<all>{inner}</all>".encode(), "jsdl")]
    assert [each.job.get("Name") for each in found] == ["j1", "j2"]


def test_ranges_and_alternatives_of_jsdl_are_comparisons():
    jsdl = "http://schemas.ggf.org/jsdl/2005/11/jsdl"
    data = f"""<j:JobDefinition xmlns:j="{jsdl}"><j:JobDescription><j:Resources>
      <j:IndividualPhysicalMemory><j:LowerBoundedRange>1048576.0</j:LowerBoundedRange>
      </j:IndividualPhysicalMemory>
      <j:TotalCPUCount><j:Exact>4</j:Exact><j:Range>
      <j:LowerBound exclusiveBound="true">8</j:LowerBound><j:UpperBound>16</j:UpperBound>
      </j:Range></j:TotalCPUCount>
      <j:TotalResourceCount><j:Exact>2</j:Exact></j:TotalResourceCount>
      <j:ExclusiveExecution>true</j:ExclusiveExecution></j:Resources></j:JobDescription>
      </j:JobDefinition>"""
    (found,) = read(data.encode())
    terms = [
        (item.name, item.attributes.get("op", "EQ"), item.text, item.attributes.get("conj", ""))
        for item in found.job.requested
    ]
    assert ("Memory", "GE", "2", "") in terms  # MB, on two nodes
    assert [each[:3] for each in terms if each[0] == "Processors"] == [
        ("Processors", "EQ", "4"), ("Processors", "GT", "8"), ("Processors", "LE", "16"),
    ]  # fmt: skip
    assert any(each[3] == "Or" for each in terms)
    assert [each.message for each in found.findings] == ["ExclusiveExecution is not read: 'true'"]


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[1]", b"nul", b'{"executable": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000,
        b'{"a":' * 100 + b"1" + b"}" * 100, b"\xff{}", b'{"executable": "\\ud800"}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", [name for name in TARGETS if name != "jsdl"])
def test_json_that_is_none_of_a_job_is_told(target, data):
    for found in read(data, target):
        assert found.job is None or found.job.get("Executable") in ("", "\ufffd", "?")


@pytest.mark.parametrize(
    "data",
    [b"", b"<a", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
     b'<JobDefinition xmlns="http://schemas.ggf.org/jsdl/2005/11/jsdl"/>'],
)  # fmt: skip
def test_xml_that_is_no_jsdl_is_told(data):
    for found in read(data, "jsdl"):
        assert found.findings
        assert all(isinstance(each, Finding) for each in found.findings)


@given(data=st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["job", "script", "resources", "tasks", "attributes", "system", "count",
                         "with", "type", "command", "environment", "nodes", "duration", "x"]),
        inner, max_size=4),
    max_leaves=20,
))  # fmt: skip
@pytest.mark.parametrize("target", [name for name in TARGETS if name != "jsdl"])
def test_any_json_is_read_or_told_of(target, data):
    for found in read(json.dumps(data).encode(), target):
        if found.job is not None:
            dumps(found.job)


def test_the_library_of_psij_loads_what_is_written_and_agrees(capsys):
    library = pytest.importorskip("psij")
    serialize = pytest.importorskip("psij.serialize")
    text = translate(loads(FULL), "psij").text
    spec = serialize.JSONSerializer().loads(text)
    form = json.loads(text)
    assert (spec.name, spec.executable) == ("run me", "/bin/sh")
    assert spec.arguments == ["-c", 'echo "a b"; exit 3', "x"]
    assert spec.environment == {"A": "x\ny\"z', $HOME"}
    assert str(spec.directory) == "/home/amy"
    assert spec.inherit_environment is False
    assert spec.attributes.duration.total_seconds() == 3661
    assert (spec.attributes.queue_name, spec.attributes.account) == ("long", "physics")
    counts = {name: value for name, value in form["resources"].items() if name != "__version"}
    made = library.ResourceSpecV1(**counts)  # raises where counts do not agree
    assert (made.computed_node_count, made.computed_process_count) == (2, 8)
    assert made.memory == 3 << 30


@given(tree=JOBS)
def test_the_library_of_psij_takes_whatever_is_written(tree):
    library = pytest.importorskip("psij")
    try:
        form = json.loads(translate(job_of(tree), "psij", Settings(unstated="Ignore")).text)
    except (InvalidValue, Untranslatable):
        assume(False)
    counts = {k: v for k, v in form.get("resources", {}).items() if k != "__version"}
    library.ResourceSpecV1(**counts)


@pytest.mark.parametrize(
    "text, seconds",
    [("3600 s", 3600), ("3600.0 s", 3600), ("90", 5400), ("01:30", 5400), ("1:00:01", 3601),
     ("2h", 7200), ("soon", None), ("", None), ("-5 s", None)],
)  # fmt: skip
def test_durations_of_psij(text, seconds):
    assert psij.duration(text) == seconds


# fmt: off
PLACED = [
    ("psij", '{"executable": "/a",\n "attributes": {"duration":\n "soon"},\n "resources": {"__version": 1,\n "node_count": 0}}', [5, 3]),
    ("psij", '[{"executable": "/a"},\n {"executable": "/b", "environment":\n 5}]', [3]),
    ("psij", '{"executable": "/a",\n "x": {}, "attributes": {"custom_attributes": {"a": "}", \n"sssjob.001": "Name - <Job"}}}', [3]),
    ("flux", '{"version": 1, "resources": [{"type": "slot", "count": 1, "label": "a",\n "with": [{"type": "core", "count": 1}]}],\n "tasks": [{"command": ["/a"],\n "slot": "b", "count": {"per_slot": 1}}],\n "attributes": {"user": {"sssjob": {"residual": [\n"Id - <Job><Id>1</Id></Job>",\n"x"]}},\n"system": {"dependencies": [5], "duration": 5}}}', [4, 8, 7]),
    ("slurmrest", '{"job": {"name": "a", "nodes": "x",\n "required_nodes": ["n1",\n "n["],\n "script": "#!/bin/sh\\n# sssjob: Id - x\\nexec /a\\n"}}', [1, 2, 4]),
    ("slurmrest", '{"jobs": [{"script": "x", "name": "a"},\n {}]}', [1]),
]
# fmt: on


@pytest.mark.parametrize(("source", "text", "lines"), PLACED)
def test_what_is_told_of_json_has_its_line(source, text, lines):
    findings = [each for found in read(text.encode(), source) for each in found.findings]
    assert [each.line for each in findings] == lines, findings


@pytest.mark.parametrize("source", ["psij", "flux", "slurmrest"])
def test_what_is_no_object_has_its_line(source):
    found = [each for item in read(b'[\n{"version": 1},\n 5]', source) for each in item.findings]
    assert found[-1].line == 3


JSDL_PLACED = """<JobDefinition xmlns="http://schemas.ggf.org/jsdl/2005/11/jsdl">
<JobDescription><JobIdentification><JobName>a</JobName>
<JobName>b</JobName></JobIdentification>
<Application/>
<Resources><CandidateHosts><HostName>a b</HostName></CandidateHosts>
<TotalCPUCount><Exact>x</Exact></TotalCPUCount>
<FileSystem name="x"/>
</Resources>
<kept xmlns="urn:sssjob:residual">Name - x</kept>
</JobDescription>
</JobDefinition>"""


def test_what_is_told_of_jsdl_has_its_line_and_path():
    (found,) = read(JSDL_PLACED.encode(), "jsdl")
    assert [each.line for each in found.findings] == [3, 4, 5, 6, 7, 9]
    paths = [each.path for each in found.findings]
    assert paths[0] == "/JobDefinition/JobDescription/JobIdentification/JobName"


@given(st.recursive(
    st.none() | st.integers() | st.text("\n\"\\{}[]:,é", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\"\n,:{", max_size=2), inner, max_size=3),
    max_leaves=8,
))  # fmt: skip
def test_each_value_of_json_is_found_in_its_line(value):
    from sssjob.json_text import line_of_value

    lines = []

    def walk(each, path, depth):
        """The text of a value, each in a line of its own."""
        lines.append((len("".join(written).split("\n")), path))
        if isinstance(each, dict):
            written.append("{")
            for number, (name, inner) in enumerate(each.items()):
                written.append(f"{',' * bool(number)}{json.dumps(name)}:\n")
                walk(inner, (*path, name), depth + 1)
            written.append("}")
        elif isinstance(each, list):
            written.append("[")
            for number, inner in enumerate(each):
                written.append(f"{',' * bool(number)}\n")
                walk(inner, (*path, number), depth + 1)
            written.append("]")
        else:
            written.append(json.dumps(each))

    written = []
    walk(value, (), 0)
    text = "".join(written)
    assert json.loads(text) == value
    for line, path in lines:
        assert line_of_value(text, path) == line, (text, path)


@pytest.mark.parametrize(("executable", "files"), [
    ("#run.sh", {"run.sh": b"#!/bin/sh\necho '\xff'\n"}), ("https://x.org/a/run.sh", {}),
])  # fmt: skip
def test_a_program_that_is_a_file_or_has_an_address_is_staged_in_jsdl(executable, files):
    job = loads(
        f"<Job><Id>1</Id><Executable>{executable}</Executable><Arguments>a 'b c'</Arguments></Job>"
    )
    text, losses = translate(job, "jsdl", Settings(files=files, residual=False))
    assert not [loss for loss in losses if not loss.fact]
    assert faults("jsdl", text) == []
    (found,) = read(text.encode(), "jsdl")
    assert (found.job.get("Executable"), found.job.get("Arguments")) == (executable, "a 'b c'")
    assert (found.files, found.findings) == (files, ())


@pytest.mark.parametrize("executable", ["#none", "#a b", "https://x.org/a%20b", "https://x.org/"])
def test_a_program_that_cannot_be_staged_is_told(executable):
    job = loads(f"<Job><Id>1</Id><Executable>{executable}</Executable></Job>")
    text, losses = translate(job, "jsdl", Settings(files={"a b": b""}))
    assert [loss.path for loss in losses if not loss.fact] == ["/Job/Executable"]
    (found,) = read(text.encode(), "jsdl")
    assert canon(found.job) == canon(job)


def test_other_files_of_jsdl_are_told_with_their_line():
    inner = "<DataStaging><FileName>in</FileName></DataStaging>"
    text = JSDL_PLACED.replace("<Application/>", inner)
    (found,) = read(text.encode(), "jsdl")
    assert ("DataStaging of 'in' is not read", 4) in [
        (each.message, each.line) for each in found.findings
    ]


@pytest.mark.parametrize("content", ["!", "IyEv*"])
def test_a_staged_file_that_is_no_base64_is_told(content):
    job = loads("<Job><Id>1</Id><Executable>#a</Executable></Job>")
    text = translate(job, "jsdl", Settings(files={"a": b"x"}, residual=False)).text
    (found,) = read(text.replace("base64,eA==", f"base64,{content}").encode(), "jsdl")
    assert [each.message for each in found.findings] == ["the content of 'a' cannot be read"]
    assert not found.files


GROUPS = (
    "<TaskGroup><TaskCount>2</TaskCount><Requested><Memory units='GB'>1</Memory><Duration>60</Duration></Requested></TaskGroup>"
    "<TaskGroup><TaskCount>3</TaskCount><Requested><Memory units='GB'>2</Memory><Duration>120</Duration></Requested></TaskGroup>"
)


def test_task_groups_come_to_one_number_of_tasks():
    job = loads(f"<Job><Id>1</Id><Executable>/a</Executable>{GROUPS}</Job>")
    request = json.loads(translate(job, "slurmrest").text)["job"]
    assert (request["tasks"], request["memory_per_cpu"]["number"]) == (5, 1639)
    assert request["time_limit"]["number"] == 2
    spec = json.loads(translate(job, "psij").text)
    assert spec["resources"]["process_count"] == 5
    assert spec["resources"]["memory"] == 8 << 30
    assert spec["attributes"]["duration"] == "120 s"


def test_task_groups_of_jsdl_are_added_up_which_is_told_and_come_back():
    job = loads(f"<Job><Id>1</Id><Executable>/a</Executable>{GROUPS}</Job>")
    text, losses = translate(job, "jsdl", Settings(residual=False))
    assert faults("jsdl", text) == []
    assert values_of(text, "TotalCPUCount") == ["=5"]
    assert values_of(text, "TotalPhysicalMemory") == [f"={8 << 30}"]
    assert "<spmd:NumberOfProcesses>5</spmd:NumberOfProcesses>" in text
    assert "<posix:WallTimeLimit>120</posix:WallTimeLimit>" in text
    told = {(loss.path, loss.reason) for loss in losses if loss.done is Done.APPROXIMATED}
    assert ("/Job/TaskGroup/TaskCount", "2 task groups are added up") in told
    assert ("/Job/TaskGroup/Requested/Memory", "2 task groups are added up") in told
    (back,) = read(text.encode(), "jsdl")
    assert (back.job.get("TaskCount"), back.findings) == ("5", ())
    assert back.job.requested.text("Processors") == "5"
    assert comes_back(job, "jsdl")
    with pytest.raises(Untranslatable):
        translate(loads(dumps(job).replace("<Job>", '<Job awarenessPolicy="Reject">')), "jsdl")


# How the tasks of the only group stand, and what is written of it for each target.
ALONE = [
    ("TasksPerNode", "4", {
        "sbatch": "--ntasks-per-node=4", "lsf": "span[ptile=4]", "pbs": "select=2:ncpus=4:mpiprocs=4",
        "torque": "nodes=2:ppn=4", "psij": '"processes_per_node": 4', "jsdl": ":ProcessesPerHost>4<",
        "slurmrest": '"tasks_per_node": 4',
    }),
    ("ProcessorsPerTask", "3", {
        "sbatch": "--cpus-per-task=3", "lsf": "affinity[core(3)]", "pbs": "select=8:ncpus=3:mpiprocs=1:ompthreads=3",
        "psij": '"cpu_cores_per_process": 3', "jsdl": ":ThreadsPerProcess>3<", "slurmrest": '"cpus_per_task": 3',
    }),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "number", "target", "said"),
    [(kind, number, target, said) for kind, number, every in ALONE for target, said in every.items()],
)  # fmt: skip
def test_how_the_tasks_of_the_only_group_stand_is_written(kind, number, target, said):
    distribution = (
        f"<TaskCount>8</TaskCount><TaskDistribution type='{kind}'>{number}</TaskDistribution>"
    )
    for inner in (f"<TaskGroup>{distribution}</TaskGroup>", distribution):
        job = loads(f"<Job><Id>1</Id><Executable>/a</Executable>{inner}</Job>")
        assert said in translate(job, target, Settings(residual=False)).text


@pytest.mark.parametrize("seconds", ["1e19", "9223372036854775808", "1e30", "1e400", "-1"])
@pytest.mark.parametrize("dialect, version", [("flux", 1), ("flux-canonical", 999)])
def test_a_duration_of_flux_that_fits_no_64_bits_is_told(seconds, dialect, version):
    text = f"""{{"version": {version}, "attributes": {{"system": {{"duration": {seconds}}}}},
      "resources": [{{"type": "slot", "count": 1, "label": "t",
                      "with": [{{"type": "core", "count": 1}}]}}],
      "tasks": [{{"command": ["a"], "slot": "t", "count": {{"per_slot": 1}}}}]}}"""
    (found,) = read(text.encode(), dialect)
    assert "Duration" not in found.job.requested.names()
    assert "/attributes/system/duration" in [each.path for each in found.findings]
