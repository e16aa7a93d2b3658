"""What an ad and a submit file ask for of a choice that neither says as a whole (decision 1038)."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads import parser, tree, writing
from sssjob.classads.evaluate import evaluate
from sssjob.classads.values import Ad
from sssjob.document import loads
from sssjob.expression import parse
from sssjob.systems.condor.requirements import demands, demands_of_each
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, translate

JOB = "<Job><Id>1</Id><Executable>/bin/date</Executable><Requested>\n{}\n</Requested></Job>"
# Each with the attribute of an ad by which it is a number of the job, and what that is then.
NUMBERS = {
    "<Processors{}>2</Processors>": ("RequestCpus", 2),
    "<Processors{}>8</Processors>": ("RequestCpus", 8),
    '<Memory{} units="MB">600</Memory>': ("RequestMemory", 600),
    '<Disk{} units="KB">90</Disk>': ("RequestDisk", 90),
    "<Duration{}>600</Duration>": ("AllowedJobDuration", 600),
    "<NodeCount{}>2</NodeCount>": ("MinHosts", 2),
    '<Resource{} name="Cogs">2</Resource>': ("RequestCogs", 2),
    '<Resource{} name="GPU">2</Resource>': ("RequestGPUs", 2),
    '<Resource{} name="License" type="x">2</Resource>': ("ConcurrencyLimits", "x:2"),
}
MACHINES = {
    "<Feature{}>ib</Feature>": ("Hasib", True),
    "<Feature{}>ssd</Feature>": ("Hasssd", True),
    "<Node{}>n1</Node>": ("Machine", "n1"),
    "<Architecture{}>x86_64</Architecture>": ("Arch", "X86_64"),
}
NOWHERE = ("<Queue{}>q</Queue>", "<QualityOfService{}>h</QualityOfService>")
AMOUNTS = {
    "RequestCpus": "request_cpus", "RequestMemory": "request_memory",
    "RequestDisk": "request_disk", "RequestGPUs": "request_gpus", "RequestCogs": "request_Cogs",
    "AllowedJobDuration": "allowed_job_duration", "ConcurrencyLimits": "concurrency_limits",
    "MinHosts": "machine_count",
}  # fmt: skip
BRANCH = st.lists(  # of one number and another nothing holds
    st.sampled_from((*NUMBERS, *MACHINES, *NOWHERE)), min_size=1, max_size=2,
    unique_by=lambda term: "<Processors" if "Processors" in term else term,
)  # fmt: skip
CHOICE = st.lists(BRANCH, min_size=1, max_size=3)


def lines(choice):
    """One line for each term: of several in a branch a group."""
    for number, branch in enumerate(choice):
        conj = ' conj="Or"' if number else ""
        if len(branch) == 1:
            yield branch[0].format(conj)
        else:
            yield branch[0].format(f'{conj} group="1"')
            yield branch[1].format(' group="-1"')


def ad_of(choice):
    [made] = to_ads(loads(JOB.format("\n".join(lines(choice)))))
    return made


def of_machines(text, old=False):
    """Requirements without what only repeats the numbers of a job."""
    found = []
    pending = [parser.expression(text, old=old)] if text else []
    while pending:
        node = pending.pop()
        if isinstance(node, tree.Binary) and node.op == "&&":
            pending += (node.right, node.left)
        elif not (isinstance(node, tree.Binary) and node.op == ">="):
            found.append(writing.expression(node))
    return found


def required(ad):
    held = ad.get("Requirements")
    return "" if held is None else writing.expression(held)


def holds(term, ad, machine):
    """Whether a job with this ad has what a term asks for on a machine."""
    if term in MACHINES:
        name, value = MACHINES[term]
        return machine.get(name) == value
    name, value = NUMBERS[term]
    if name == "ConcurrencyLimits":
        return value in str(ad.get(name, "")).split(",")
    hosts = ad.get("MinHosts", 1) if name.startswith("Request") else 1
    return ad.get(name, 0) * hosts >= value


@given(choice=CHOICE)
def test_an_ad_and_a_submit_file_ask_for_the_same_of_a_choice(choice):
    ad = ad_of(choice).ad
    job = loads(JOB.format("\n".join(lines(choice))))
    said = dict(
        line.split(" = ", 1)
        for line in translate(job, "condor", Settings(residual=False)).text.splitlines()
        if " = " in line
    )
    assert of_machines(required(ad)) == of_machines(said.get("requirements", ""), old=True)
    for name, option in AMOUNTS.items():
        if name != "RequestCpus" or option in said:  # which an ad always has
            assert str(ad.get(name, "")) == said.get(option, ""), name


@given(choice=CHOICE)
def test_every_machine_that_an_ad_takes_satisfies_an_alternative_or_it_is_told(choice):
    made = ad_of(choice)
    lost = {line for line, term in enumerate(choice[0], 2) if term in NOWHERE}
    assert lost <= {each.line for each in made.findings}
    if lost:
        return
    names = [name for name, _ in MACHINES.values()]
    for has in product((True, False), repeat=len(names)):
        given_ = {name: value for (name, value), yes in zip(MACHINES.values(), has, strict=True)
                  if yes}  # fmt: skip
        large = {"Cpus": 16, "Memory": 9999, "Disk": 9999, "Cogs": 9, "GPUs": 9}
        machine = Ad({**large, **given_})
        text = required(made.ad)
        if text and evaluate(parser.expression(text), my=made.ad, target=machine) is not True:
            continue
        assert any(all(holds(term, made.ad, given_) for term in branch) for branch in choice
                   if not {*branch} & {*NOWHERE})  # fmt: skip


@pytest.mark.parametrize("term", NUMBERS)
def test_what_is_first_of_a_choice_is_asked_for(term):
    ib = "<Feature{}>ib</Feature>"
    name, value = NUMBERS[term]
    ad = ad_of([[ib], [term]]).ad
    assert required(ad) == "TARGET.Hasib is true"
    assert ad.get(name) in (None, 1)
    ad = ad_of([[term], [ib]]).ad
    assert "Hasib" not in required(ad)
    assert ad[name] == value


def test_a_choice_of_which_a_machine_says_one_branch_alone_is_said_by_its_chosen_terms():
    asked = parse(loads(JOB.format(
        '<Feature group="1">ib</Feature><TaskCount conj="Or" group="-1">2</TaskCount>'
    )).requested)  # fmt: skip
    first = next(iter(asked.operands))
    found = demands_of_each([asked], lambda part: (first,))
    assert writing.expression(found.requirements) == "TARGET.Hasib is true"
    assert demands(asked).requirements is None


def with_policy(policy, asked):
    return loads(JOB.replace("<Job>", f'<Job awarenessPolicy="{policy}">').format(asked))


# decision 1146
@pytest.mark.parametrize("policy, is_told", [("Warn", True), ("Reject", True), ("Ignore", False)])
def test_a_request_without_bounds_is_told_once_by_the_policy_that_holds(policy, is_told):
    [made] = to_ads(with_policy(policy, '<NodeCount op="NE">3</NodeCount>'))
    assert [each.code for each in made.findings] == ["E-LOSS"] * is_told
    assert made.runs is (policy != "Reject")


@pytest.mark.parametrize("lost", ["<NodeCount>3</NodeCount>", '<Feature op="Match">i.b</Feature>'])
def test_an_ad_is_of_the_best_alternative_that_nothing_refuses(lost):
    [made] = to_ads(with_policy("Reject", f'{lost}<Processors conj="Or">2</Processors>'))
    assert made.runs
    assert made.ad["RequestCpus"] == 2
    assert "MinHosts" not in made.ad


TWO_PLACES = ("{}", "<TaskGroup><Name>g</Name>{}</TaskGroup>")


@pytest.mark.parametrize("place", TWO_PLACES, ids=["job", "only group"])
@pytest.mark.parametrize("second, processors", [
    ("<Feature conj='Or'>f</Feature>", 1), ("<Processors conj='Or'>2</Processors>", 2),
    ("<Feature conj='Or' group='1'>f</Feature><Processors group='-1'>4</Processors>", 4),
])  # fmt: skip
def test_an_ad_of_the_next_alternative_has_its_numbers(place, second, processors):
    asked = f"<Requested><NodeCount>3</NodeCount>{second}</Requested>"
    job = loads(
        '<Job awarenessPolicy="Reject"><Id>1</Id><Executable>/bin/date</Executable>'
        f"{place.format(asked)}</Job>"
    )
    [mapped] = to_ads(job)
    assert mapped.runs
    assert (mapped.ad["RequestCpus"], "MinHosts" in mapped.ad) == (processors, False)
