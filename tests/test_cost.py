"""What strangers' input costs grows with its size and no faster: counted work, and no clock.

Work is calls of functions, Python's own in C included, and the bytes held at most. Each input is
doubled; at most so much more is done for it, with some room.
"""
# ruff: noqa: E501 (a row of a table is a line)

import io
import itertools
import re
import tracemalloc
from contextlib import suppress

import pytest
from click.testing import CliRunner
from counting import calls
from fuzz_target import TIMES, tried
from fuzz_targets import PARSERS
from repeated_parts import REPEATED

from sssjob import records, resources, spec
from sssjob.check.awareness import around
from sssjob.check.sources import check_source
from sssjob.classads.forms import read
from sssjob.cli import sssjob
from sssjob.defaults import resolve
from sssjob.document import canonical, dumps, slices, tree
from sssjob.document import read as read_documents
from sssjob.document.bridge import from_tree
from sssjob.document.bundle import bundles
from sssjob.document.repair import advise
from sssjob.document.sources import NamedSource
from sssjob.drawing.tree import tree as draw
from sssjob.errors import LimitExceeded, Severity, UnreadableDocument
from sssjob.expression.evaluate import stated
from sssjob.expression.tree import conjuncts
from sssjob.features.folded import beyond
from sssjob.matching import Asker, askers
from sssjob.query import compile
from sssjob.query.xpath2.context import PREFIXES
from sssjob.systems.condor.job_ad import to_ad
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings
from sssjob.translate import read as read_scripts
from sssjob.verbs.translate import TranslationTask, explain, run

ROOM = 1.3  # how much more than twice as much twice the input may cost
SEEDS = 2  # of a parser that are repeated
LEAST = 1 << 19  # bytes that are held whatever comes


def jobs(inside, around="", count=1):
    return (
        f"<Jobs{around}>{''.join(f'<Job><Id>{i}</Id>{inside}</Job>' for i in range(count))}</Jobs>"
    )


def attributes(count):
    return jobs("<User " + " ".join(f'a{i}="1"' for i in range(count)) + ">amy</User>")


# fmt: off
DOCUMENTS = {
    "attributes of one element": (attributes, 300),
    "empty elements":            (lambda n: jobs("<a/>" * n), 300),
    "unknown names":             (lambda n: jobs("".join(f"<Procesor{i}/>" for i in range(n))), 300),
    "names almost known":        (lambda n: jobs("".join(f"<Proccessor{chr(97 + i % 26)}/>" for i in range(n))), 300),
    "namespaces around jobs":    (lambda n: jobs("", "".join(f' xmlns:p{i}="u:{i}"' for i in range(n)), 50), 100),
    "namespaces in a job":       (lambda n: jobs("".join(f'<p{i}:a xmlns:p{i}="u:{i}"/>' for i in range(n))), 200),
    "jobs":                      (lambda n: jobs("<User>amy</User>", count=n), 100),
    "jobs of a group":           (lambda n: f"<JobGroup><Id>g</Id>{jobs('<User>amy</User>', count=n)[6:-7]}</JobGroup>", 100),
    "comments":                  (lambda n: jobs("<!-- x -->" * n), 500),
    "entities":                  (lambda n: jobs(f"<User>{'&amp;' * n}</User>"), 2000),
    "depth":                     (lambda n: jobs("<a>" * n + "</a>" * n), 60),
    "requested":                 (lambda n: jobs(f"<Requested>{'<Memory>1</Memory>' * n}</Requested>"), 150),
    "variables":                 (lambda n: jobs("<Environment>" + "".join(f'<Variable name="a{i}">1</Variable>' for i in range(n)) + "</Environment>"), 300),
    "dependencies":              (lambda n: jobs("".join(f"<Dependency>{i}</Dependency>" for i in range(n))), 300),
    "lines":                     (lambda n: "\n".join(["<Job><Id>1</Id></Job>"] * n), 100),
    "text":                      (lambda n: jobs(f"<User>{'x' * n}</User>"), 50_000),
    "bounds":                    (lambda n: jobs("<Requested>" + "".join(f'<Processors op="GE">{i}</Processors><Processors op="LE">{9999 - i}</Processors><Memory op="NE">{i}</Memory>' for i in range(n)) + "</Requested>"), 100),
    "bounds in groups":          (lambda n: jobs("<Requested>" + "".join(f'<Processors group="1" op="GE">{i}</Processors><NodeCount group="-1" op="LE">{9999 - i}</NodeCount>' for i in range(n)) + "</Requested>"), 100),
    "Ids":                       (lambda n: jobs("".join(f"<Id>p{i}</Id>" for i in range(n))), 200),
}
READERS = {
    "trees":    lambda data: sum(1 for _ in tree.units(data)),
    "slices":   lambda data: sum(len(each.document) for each in slices.slices(data)),
    "values":   lambda data: [dumps(from_tree(each)) for each in tree.units(data)],
    "indented": lambda data: [dumps(from_tree(each), indent=True) for each in tree.units(data)],
    "effective": lambda data: [dumps(resolve(from_tree(each)).block) for each in tree.units(data)],
    "shown":    lambda data: [draw(from_tree(each)) for each in tree.units(data)],
    "canon":    lambda data: [canonical.canon(from_tree(each)) for each in tree.units(data)],
    "check":    lambda data: sum(1 for _ in check_source(data)),
    "query":    lambda data: sum(1 for _ in compile("//Job[User='amy']/Id").run(data)),
    "messages": lambda data: sum(1 for _ in bundles(io.BytesIO(data))),
    "scripts":  lambda data: sum(1 for _ in run(TranslationTask("sbatch"), iter((NamedSource("-", io.BytesIO(data)),)))),
    "repair":   lambda data: sum(1 for _ in advise(data[:-1])),
}
RECORDS = {
    "slurm":    (lambda n: "JobID|State|User\n" + "1|COMPLETED|amy\n" * n, 300),
    "slurm, fields": (lambda n: "JobID|State" + "".join(f"|X{i}" for i in range(n)) + "\n1|COMPLETED" + "|a" * n + "\n", 300),
    "pbs":      (lambda n: "11/21/2026 10:00:00;E;1.s;user=amy Exit_status=0\n" * n, 300),
    "pbs, words": (lambda n: "11/21/2026 10:00:00;E;1.s;user=amy" + "".join(f" x{i}=1" for i in range(n)) + "\n", 300),
    "slurm-json": (lambda n: '{"jobs": [' + ",".join(['{"job_id": 1}'] * n) + "]}", 100),
    "swf":      (lambda n: "1 0 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n" * n, 100),
    "blah":     (lambda n: '"timestamp=2026-11-21 10:00:00" "userDN=/CN=a" "lrmsID=1" "ceID=c" "jobID=j"\n' * n, 200),
}
ADS = {
    "attributes":  (lambda n: "".join(f"a{i} = 1\n" for i in range(n)), 300),
    "ads":         (lambda n: "a = 1\n\n" * n, 300),
    "a list":      (lambda n: "a = {" + "1," * n + "1}\n", 300),
    "operators":   (lambda n: "a = " + "1 + " * n + "1\n", 100),
    "a string":    (lambda n: 'a = "' + "x" * n + '"\n', 50_000),
}
PLAIN = "<Id>1</Id><Executable>/bin/true</Executable>"
# What stands around the jobs of a group is looked at once, and not for each of them.
AROUND = {
    "comments":         lambda n: f"<!-- x --><Job>{PLAIN}</Job>" * n,
    "an attribute":     lambda n: '<Description foo="1">a</Description>' + f"<Job>{PLAIN}</Job>" * n,
    "an element":       lambda n: '<foo awarenessPolicy="Ignore"/>' + f"<Job>{PLAIN}</Job>" * n,
    "elements":         lambda n: "<foo/>" * n + f"<Job>{PLAIN}</Job>" * n,
    "attributes":       lambda n: "".join(f'<Description foo{i}="1">a</Description>' for i in range(n)) + f"<Job>{PLAIN}</Job>" * n,
    "defaults in each": lambda n: f'<Job>{PLAIN}<TaskDefaults foo="1"/></Job>' * n,
}
# n things that are said of n jobs: each job has its own n of them, and costs no more than that.
SAID_OF_JOBS = {
    "unknown elements":   lambda i: f"<foo{i}/>",
    "properties":         lambda i: f'<Extension name="e{i}">1</Extension>',
    "unknown attributes": lambda i: f'<InputFile foo{i}="1">a{i}</InputFile>',
    "variables":          lambda i: f'<Environment><Variable name="e{i}">1</Variable></Environment>',
    "requests":           lambda i: f'<Requested><Resource name="r{i}">1</Resource></Requested>',
    "dependencies":       lambda i: f"<Dependency>j{i}</Dependency>",
    "comments":           lambda i: "<!-- x -->",
}
# What one job says n times, of which each is looked at by itself.
SAID_OF_ONE = {
    "wrong values":  lambda n: jobs("<Processors>x</Processors>" * n),
    "limits":        lambda n: jobs("".join(f'<ResourceLimit name="CPUTime{i}" type="Soft">1</ResourceLimit>' for i in range(n))),
    "task groups that override": lambda n: jobs("<User>b</User><Requested><Processors>4</Processors></Requested>" + "".join(f"<TaskGroup><Name>t{i}</Name><User>a</User><Requested><Processors>1</Processors><Node>n{i}</Node></Requested></TaskGroup>" for i in range(n))),
    "task groups":   lambda n: jobs("".join(f"<TaskGroup><Name>t{i}</Name><User>a</User><Requested><Processors>1</Processors></Requested></TaskGroup>" for i in range(n))),
    "resources":     lambda n: jobs((said := "".join(f'<Resource name="r{i}">1</Resource>' for i in range(n))) + f"<Requested>{said}</Requested>"),
    "requests":      lambda n: jobs(f"""<Requested>{"".join(f'<Resource name="r{i}">1</Resource>' for i in range(n))}</Requested>"""),
}
# fmt: on


def around_jobs(data):
    """What stands around jobs, judged with each as those do who translate and submit them."""
    (group,) = read_documents(data)
    return sum(1 for each in around(group, group.jobs) if each and each.judged()[0])


def peak(work, data):
    """How many bytes are held at most."""
    tracemalloc.start()
    try:
        work(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check_linear(work, make, size):
    once, twice = (make(number).encode() for number in (size, 2 * size))
    work(twice)  # what is made once is made
    factor = ROOM * max(2, len(twice) / len(once))
    assert calls(work, twice) <= factor * calls(work, once) + 1000
    assert peak(work, twice) <= factor * peak(work, once) + LEAST


@pytest.mark.parametrize("work", READERS.values(), ids=READERS)
@pytest.mark.parametrize("make, size", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_costs_as_much_as_it_is_large(make, size, work):
    check_linear(work, make, size)


@pytest.mark.parametrize("work", [around_jobs, READERS["scripts"]], ids=["judged", "translated"])
@pytest.mark.parametrize("make, size", [(make, 60) for make in AROUND.values()], ids=AROUND)
def test_what_stands_around_jobs_is_looked_at_once(make, size, work):
    check_linear(work, lambda count: f"<JobGroup><Id>g</Id>{make(count)}</JobGroup>", size)


def asked_by_groups(job):
    """Who asks for what in a job, as those do who explain and match it."""
    return [*askers(Asker("/Job", job), lambda unit: conjuncts(stated(unit.block, unit.whole)))]


def counted_alike(job):
    """What of a job is said elsewhere, too, as those do who fold a record into it."""
    return beyond(job.properties, job.properties)


@pytest.mark.parametrize("work, said", [
    (to_ad, "wrong values"), (to_ad, "resources"), (to_ad, "requests"),
    (to_ads, "task groups"), (to_ads, "task groups that override"), (counted_alike, "limits"),
    (asked_by_groups, "task groups"),
])  # fmt: skip
def test_a_job_costs_as_much_as_it_says(work, said):
    once, twice = (
        next(iter(read_documents(SAID_OF_ONE[said](number).encode()))) for number in (400, 800)
    )
    work(once)
    assert calls(work, twice) <= ROOM * 2 * calls(work, once) + 1000


def test_the_ad_of_a_task_group_costs_nothing_for_the_others():
    once, twice = (
        next(iter(read_documents(SAID_OF_ONE["task groups"](number).encode())))
        for number in (800, 1600)
    )
    to_ads(once)
    assert calls(to_ads, twice) <= ROOM * 2 * calls(to_ads, once)


@pytest.mark.parametrize("inside", ["<a/>", "<a>" * 9 + "</a>" * 9, "<InputFile>x</InputFile>"])
def test_what_is_explained_of_a_job_is_bounded_by_its_size(inside, monkeypatch):
    monkeypatch.setattr("sssjob.verbs.translate.EXPLAINED", 0)
    monkeypatch.setattr("sssjob.verbs.translate.EXPLAINED_FOR_EACH", 40)

    def work(job):
        with pytest.raises(LimitExceeded, match="to explain one job"):
            for _ in explain(job, Settings()):
                pass

    once, twice = (
        next(iter(read_documents(jobs(inside * number).encode()))) for number in (60, 120)
    )
    work(once)
    assert calls(work, twice) <= ROOM * 2 * calls(work, once)


NAMED = jobs(
    '<Requested><Node aggregation="Range">n[0-7999]</Node></Requested>' + "<Name>a</Name>" * 99
)


@pytest.mark.parametrize("said", [
    "features Or pref", "node nandpatt both", "Node range",
])  # fmt: skip
def test_what_is_explained_of_a_job_costs_what_is_charged_for_it(said, monkeypatch):
    """However many of a kind there are, by counted calls, beyond those of a text of each target."""
    monkeypatch.setattr("sssjob.verbs.translate.EXPLAINED", charged := 20_000)
    monkeypatch.setattr("sssjob.verbs.translate.EXPLAINED_FOR_EACH", 0)
    document = NAMED if said == "Node range" else REPEATED[said](40)
    job = next(iter(read_documents(document.encode())))

    def first():
        with suppress(LimitExceeded):
            next(explain(job, Settings()))

    def every():
        with pytest.raises(LimitExceeded, match="to explain one job"):
            for _ in explain(job, Settings()):
                pass

    first()
    assert calls(every) <= 2 * calls(first) + 250 * charged


def test_a_job_that_is_not_explained_to_its_end_is_told(monkeypatch):
    monkeypatch.setattr("sssjob.verbs.translate.EXPLAINED", 300)
    monkeypatch.setattr("sssjob.verbs.translate.EXPLAINED_FOR_EACH", 0)
    document = jobs("<Executable>a</Executable>" + "<InputFile>x</InputFile>" * 9, count=2)
    result = CliRunner().invoke(
        sssjob, ["translate", "--to", "all", "--explain", "-"], input=document
    )
    told = [line for line in result.stderr.splitlines() if "are not explained" in line]
    assert [line.partition(" its other")[0] for line in told] == [
        f"<stdin>: error: Job {number}:" for number in (0, 1)
    ]
    assert result.stdout.count("/Job/Id ") == 2
    assert result.exit_code == 1


@pytest.mark.parametrize("number", [10, 200])
def test_prefixes_of_a_job_are_written_in_their_order_however_many_they_are(number):
    around = "".join(f' xmlns:p{each}="u:{each}&amp;"' for each in reversed(range(number)))
    document = f'<Job{around} xmlns:t="{spec.NAMESPACE}" p1:a="1"><Id>1</Id></Job>'
    (job,) = read_documents(document.encode())
    assert dumps(job).replace("\n", "").endswith(document)


def test_a_document_with_more_prefixes_than_elementpath_bears_is_not_asked():
    def found(number, inside="<a/>"):
        around = "".join(f' xmlns:p{each}="u:{each}"' for each in range(number))
        asked = f"<Job><x{around}>{inside}</x></Job>".encode()
        return [each.value for each in compile("count(//*)", version="3.1").run(asked)]

    assert found(PREFIXES) == [3]
    assert found(PREFIXES, '<a xmlns:p1="other"/>') == [3]
    with pytest.raises(UnreadableDocument, match=f"more than {PREFIXES} prefixes"):
        found(PREFIXES + 1)


@pytest.mark.parametrize("sheet", resources.sheets(), ids=lambda path: path.stem)
def test_a_sheet_looks_defaults_up_and_not_among_the_siblings_of_each_job(sheet):
    assert not re.search(r"\.\./(s:)?JobDefaults", sheet.read_text())


def defaults_of_jobs(said, number):
    inside = "".join(map(said, range(number))).replace("</Requested><Requested>", "")
    inside = inside.replace("</Environment><Environment>", "")
    return (
        f"<JobGroup><JobDefaults>{inside}</JobDefaults>{f'<Job>{PLAIN}</Job>' * number}</JobGroup>"
    )


@pytest.mark.parametrize("said", SAID_OF_JOBS.values(), ids=SAID_OF_JOBS)
def test_what_defaults_say_is_worked_out_once_for_all_jobs(said):
    (group,) = read_documents(defaults_of_jobs(said, 60).encode())
    resolve(group)
    assert calls(resolve, group) < 12 * 60 * 60 + 100 * 120


@pytest.mark.parametrize("said", SAID_OF_JOBS.values(), ids=SAID_OF_JOBS)
def test_a_job_costs_as_much_as_it_inherits(said):
    def work(data):
        found = run(TranslationTask("sbatch"), iter((NamedSource("-", io.BytesIO(data)),)))
        return sum(len(each.text) + len(str(each.losses)) for each in found)

    once, twice = (defaults_of_jobs(said, size).encode() for size in (20, 40))
    factor = ROOM * max(2, work(twice) / work(once))
    assert calls(work, twice) <= factor * calls(work, once) + 1000


@pytest.mark.parametrize(
    "work", [lambda data: [*map(resolve, read_documents(data))], READERS["scripts"]],
    ids=["resolved", "translated"],
)  # fmt: skip
@pytest.mark.parametrize(
    "document",
    [
        defaults_of_jobs(SAID_OF_JOBS["properties"], 30),
        defaults_of_jobs(SAID_OF_JOBS["variables"], 30),
        f"<JobGroup><JobDefaults><TaskGroupDefaults>{'<User>a</User>' * 30}</TaskGroupDefaults>"
        f"</JobDefaults>{'<Job><TaskGroup><Id>1</Id></TaskGroup></Job>' * 30}</JobGroup>",
    ],
    ids=["properties", "variables", "task groups"],
)
def test_what_jobs_inherit_is_bounded_by_the_size_of_the_document(document, work, monkeypatch):
    monkeypatch.setattr("sssjob.defaults.resolver.LENT", 10)
    work(document.encode())
    monkeypatch.setattr("sssjob.defaults.resolver.LENT_FOR_EACH", 2)
    with pytest.raises(LimitExceeded, match="elements that jobs inherit"):
        work(document.encode())


def test_validate_tells_that_it_does_not_look_at_too_much_that_is_inherited(monkeypatch):
    monkeypatch.setattr("sssjob.defaults.resolver.LENT", 10)
    monkeypatch.setattr("sssjob.defaults.resolver.LENT_FOR_EACH", 2)
    document = defaults_of_jobs(SAID_OF_JOBS["dependencies"], 30)
    [found] = [each for each in check_source(document.encode()) if each.code == "E-LIMIT"]
    assert (found.severity, found.path) == (Severity.WARNING, "/JobGroup")


@pytest.mark.parametrize("said", ["requests", "properties", "variables"])
def test_what_jobs_may_not_inherit_is_not_made_before(said, monkeypatch):
    monkeypatch.setattr("sssjob.defaults.resolver.LENT", 10)
    monkeypatch.setattr("sssjob.defaults.resolver.LENT_FOR_EACH", 10)

    def work(group):
        with pytest.raises(LimitExceeded, match="elements that jobs inherit"):
            resolve(group)

    (group,) = read_documents(defaults_of_jobs(SAID_OF_JOBS[said], 100).encode())
    work(group)
    assert calls(work, group) < 100 * 100


@pytest.mark.parametrize("format, case", [(name.split(",")[0], name) for name in RECORDS])
def test_records_cost_as_much_as_they_are_large(format, case):
    def work(data):
        return sum(1 for _ in records.jobs(format, io.BytesIO(data)))

    check_linear(work, *RECORDS[case])


@pytest.mark.parametrize("make, size", ADS.values(), ids=ADS)
def test_class_ads_cost_as_much_as_they_are_large(make, size):
    check_linear(lambda data: sum(1 for _ in read(io.BytesIO(data))), make, size)


@pytest.mark.parametrize("name", PARSERS)
def test_any_input_that_is_repeated_costs_as_often_as_much(name):
    target = PARSERS[name]
    repeated = [*itertools.islice(target.repeated(name), SEEDS)]
    assert repeated, f"{name}: nothing that is taken is made twice as long"
    for make in repeated:
        check_linear(
            lambda data: tried(target.run, data.decode().encode("latin-1")),
            lambda count, make=make: make(count).decode("latin-1"),
            TIMES,
        )


def test_advice_is_given_on_so_many_names():
    names = [f"Proc{chr(97 + i % 26)}{chr(97 + i // 26)}ssors" for i in range(600)]
    document = jobs("".join(f"<{name}/>" for name in names))
    found = [each for each in check_source(document.encode()) if each.code == "E-UNKNOWN"]
    assert len(found) == 600
    assert not any(each.suggestion for each in found[100:])


def test_no_more_is_said_of_a_job_than_is_read(monkeypatch):
    monkeypatch.setattr("sssjob.check.walk.MOST", 50)
    *found, last = check_source(jobs("<a/>" * 60).encode())
    assert [each.code for each in found] == ["E-UNKNOWN"] * 50
    assert (last.code, "more than 50 findings" in last.message) == ("E-LIMIT", True)


def test_elements_without_end_are_refused(monkeypatch):
    monkeypatch.setattr("sssjob.document.limits.NODE_LIMIT", 1000)
    monkeypatch.setattr("sssjob.document.limits.TOKEN_LIMIT", 4000)
    data = f"<Job><Id>1</Id>{'<a/>' * 2000}</Job>".encode()
    [found] = check_source(data)
    assert found.code == "E-LIMIT"


def jobspec(slots=1, tasks=1, first="t0"):
    """A jobspec of Flux of so many slots and tasks."""
    core = '"with": [{"type": "core", "count": 1}]'
    of_slots = ",\n".join(
        f'{{"type": "slot", "count": 1, "label": "t{at}", {core}}}' for at in range(slots)
    )
    task = f'{{"command": ["a"], "slot": "{first}", "count": {{"per_slot": 1}}}}'
    system = '{"system": {"duration": 1}}'
    return (
        f'{{"version": 1, "resources": [{of_slots}],\n"tasks": [{", ".join([task] * tasks)}], '
        f'"attributes": {system}}}'
    )


def objects(inside):
    """An array of specifications, each with something that is not read."""
    return lambda count: f"[{', '.join([inside] * count)}]"


SPECIFICATIONS = {
    "slots of Flux": ("flux", jobspec),
    "slots of Flux, and none of a task": ("flux", lambda count: jobspec(count, first="no")),
    "tasks of Flux": ("flux", lambda count: jobspec(count, count)),
    "tasks of Flux of no slot": ("flux", lambda count: jobspec(count, count, "no")),
    "jobspecs": ("flux", objects(jobspec(2))),
    "jobs of PSI/J": ("psij", objects('{"executable": "/a",\n"unknown": [1]}')),
    "odd texts of PSI/J": ("psij", objects('{"executable": "/a",\n"name": "\\\\u0000"}')),
    "names of PSI/J": ("psij", lambda count: f'{{"executable": "/a", {", ".join(f"{chr(34)}u{at}{chr(34)}: [1]" for at in range(count))}}}'),
    "jobs of Slurm's REST": ("slurmrest", objects('{"job": {"script": "#!/bin/sh\\n",\n"unknown": 1}}')),
}  # fmt: skip


@pytest.mark.parametrize("system, make", SPECIFICATIONS.values(), ids=SPECIFICATIONS)
def test_a_specification_costs_as_much_as_it_is_large(system, make):
    check_linear(lambda data: [*read_scripts(data, system)], make, 150)


def test_a_task_of_a_slot_that_is_not_there_names_ten_that_are():
    (found,) = read_scripts(jobspec(12, first="no").encode(), "flux")
    (told,) = (each.message for each in found.findings if "is not there" in each.message)
    assert told.endswith(
        f"{', '.join(f'{chr(34)}t{at}{chr(34)}' for at in range(10))} and 2 more is"
    )
