"""What reads bytes of strangers, as functions: fuzzing calls them, with examples to begin with.

A parser may refuse its input with an error of our family and with nothing else. A difference is
two ways to read the same input, which have to agree.
"""

import bz2
import gzip
import io
import json
import lzma
import re
import tempfile
from contextlib import suppress
from datetime import UTC
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from unittest import mock

import zstandard
from fuzz_around import AROUND, DAMAGED
from fuzz_target import (
    DATA,
    HOME,
    LARGEST,
    Target,
    drained,
    in_a_file,
    repeated,
    text,
    tried,
)

from sssjob import query, records, registry, settings, spec, store
from sssjob.accounting import reference
from sssjob.accounting.sending import Receipts
from sssjob.check import accept
from sssjob.check.sources import check_source
from sssjob.classads import forms, parser
from sssjob.document import canonical, dumps, files, guesses, slices, tree
from sssjob.document.bridge import from_tree
from sssjob.document.bundle import bundles
from sssjob.document.repair import advise
from sssjob.document.sources import NamedSource
from sssjob.errors import SSSJobError
from sssjob.expression import offers
from sssjob.features import keys, remote
from sssjob.features import read as of_features
from sssjob.features import status as of_status
from sssjob.formats import maui
from sssjob.gateway import config as gateway
from sssjob.lcginfo import caps, config, ldif, lrmsinfo, reader
from sssjob.model import JobGroup
from sssjob.query import versions
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Bad, Noted, Options, Skipped
from sssjob.records.state import LogsState
from sssjob.rmap import envelope, framing, gate, reading
from sssjob.rmap.replies import Reply
from sssjob.systems.condor.configured import Configured
from sssjob.translate import read as read_jobs
from sssjob.verbs import status
from sssjob.verbs.translate import TranslationTask, run

DOCUMENTS = ("tests/data/valid/*.xml", "tests/data/invalid/*.xml", "examples/*.xml")
JOBS = ("tests/data/valid/*.xml", "examples/**/*.xml", "tests/data/slurm/22.05/allocations.txt")
EACH = 3  # jobs of a file that are translated
SCRIPTS = ("examples/translate/*", "tests/data/translate/*", "tests/data/oracles/**/*.sh")


def taken(outcomes):
    """How many records were taken, of all that became of them."""
    return sum(not isinstance(each, Bad | Skipped | Noted) for each in outcomes)


def records_of(name, data):
    return taken(records.jobs(name, io.BytesIO(data)))


def script(name, data):
    return sum(each.job is not None for each in read_jobs(data, name))


def scripts_of(name):
    """What jobs of documents and records become in a dialect, each text once."""
    files_ = [file for each in JOBS for file in sorted(HOME.glob(each))]
    found = {}
    for file in files_:
        jobs = run(TranslationTask(name), iter((NamedSource(str(file), file),)))
        with suppress(SSSJobError):
            found |= {each.text: None for each in islice(jobs, EACH) if each.text}
    return [each for each in found if len(each) < LARGEST]


def status_of(name, data):
    rows = status.formats(name)
    return taken(status.outcomes(io.BytesIO(data), rows, Options(zone="UTC"), OBJECTS))


def queue_of(name, data):
    """An output of its commands, among those that tell all that the others do not."""
    return reader.snapshot(name, [data], reader.ReaderOptions(now=1.8e9, group="user"))


def listing(data):
    return len(lrmsinfo.read(io.BytesIO(data)).jobs)


def rows_of_settings(path):
    settings.rows(path)
    return settings.read(path)


def of_reference(read, path):
    """Names, prices or factors, which are read with names."""
    nobody = reference.names([], UTC)
    return reference.names([path], UTC) if read is None else read(path, UTC, nobody)


KEYS = keys.names((*keys.MACHINE_FEATURES, *keys.JOB_FEATURES))


def feature_values(data):
    """What files of a directory of features hold: each line is that of the next key."""
    with tempfile.TemporaryDirectory() as directory:
        for name, line in zip(KEYS, data.split(b"\n"), strict=False):
            Path(directory, name).write_bytes(line)
        return of_features.read(directory).values


def feature_server(data):
    """What a server lists, and says of each key."""

    def answered(session, url, limit, options):
        response = mock.Mock(status_code=200, iter_content=lambda _: [data])
        return remote._text(response, url, limit)

    with mock.patch.object(remote, "_answered", answered):
        asked = remote._ServerQuestions(remote.RemoteOptions())
        remote.read("http://localhost/f", keys.JOB_FEATURES)
        return asked.listed("http://localhost/f/", KEYS)


def condor_configuration(data):
    told = Configured.read(data.decode("utf-8", "replace"))
    drained(told.found(files=False))
    return [*told.said()]


def decompressed(data):
    with files.opened(io.BytesIO(data)) as stream:
        return sum(len(piece) for piece in iter(lambda: stream.read(1 << 16), b""))


def caps_of(name, data):
    return registry.system(name).caps.load()(text(data)) is not None


def framed(data):
    found, count = framing.Requests(), 0
    found.feed(data)
    while (request := found.next()) is not None:
        tried(enveloped, request.body)
        count += 1
    return count


def replied(data):
    """What a server answers, with what its documents say."""
    found = Reply()
    for at in range(0, len(data), 100):
        found.feed(data[at : at + 100])
    found.end()
    documents = found.documents()
    for document in documents:
        tried(enveloped, document)
    return len(documents)


def enveloped(data):
    """A message of a client or of a server, with whatever it seems to be."""
    gate.weight(data, len(data))
    tried(gate.claims, data)
    if gate.is_encrypted(data):
        tried(gate.encrypted, data)
    body = envelope.opened(data).body
    if body is None:
        return False
    return any([tried(reading.read_request, body), tried(reading.read_response, body)])


def xpath1(data):
    found = query.compile(text(data))
    return found, found.streams, found.obstacle


def xpath2(data):
    """A query with what is asked of it before a document is."""
    found = versions.compile(text(data), version="3.1")
    return found, found.streams, found.obstacle, found.has_one_answer


# What the axes, functions and operators of XPath look like.
EXPRESSIONS = (
    "//Job[User='amy']/Id",
    "count(//Job[Memory > 600])",
    "//Job[2]/@*",
    "sum(.//Processors)",
    "//Job/following-sibling::Job[last()]",
    "string(//Id)",
    "//Job[not(State) or EndTime < 9]",
    "//Node | //Feature",
    "//Job[contains(Name, 'x') and starts-with(Queue, \"q\")]",
    "sum(//Duration) div count(//Job)",
    "//Memory[@units='MB'][. >= sss:bytes('2 GB')]",
    "/JobGroup/Job[position() mod 2 = 1]/descendant-or-self::node()",
)
LATER = (
    "for $j in //Job return string-join(($j/User, $j/Id), ':')",
    "sum([])",
    "[//Id](1)",
    "let $m := map{'a': 1, 'b': [2, 3]} return $m?b?1",
    "array{1 to 3}?*",
    "//Job => count()",
    "some $u in //User satisfies $u = 'amy'",
    "distinct-values(//Queue)",
    "//Id ! xs:integer(.)",
    "if (//Job) then max(//Memory) else ()",
    "sort(//Id, (), function($x) { -$x })",
    "//Job[matches(Name, '^a.*b$', 'i')]",
    "fold-left(1 to 3, 0, function($a, $b) { $a + $b })",
    "//Job except //Job[State]",
    "every $x in //Id satisfies $x instance of element()",
    "reverse(//Job)[1]/Id || 'x'",
    "1 to 3",
    "//Job/(Id, User)",
    "map:keys(map{'x': //Id})",
)


AD_EXPRESSIONS = (
    "TARGET.Memory >= 1024 && MY.RequestCpus <= TARGET.Cpus",
    'regexp("^a.*b$", Owner, "i") ? {1, 2.5}[0] : [a = 1; b = a].b',
    'isUndefined(x) =?= true || strcat("a", 3) =!= error',
)


def values(data):
    count = 0
    for count, element in enumerate(tree.units(data), 1):  # noqa: B007
        block = from_tree(element)
        dumps(block)
        canonical.canon(block)
    return count


def first(file, *path):
    """The first of a list in a real output in JSON, as text."""
    found = json.loads((DATA / file).read_bytes())
    for name in path:
        found = found[name]
    return json.dumps(found[0] if isinstance(found, list) else next(iter(found.values())))


def of_json(name, file):
    """Outputs with so many jobs as the first one of a real output."""
    return lambda count: repeated(first(file, name), ",", f'{{"{name}":[', "]}")(count)


def condor_jobs(count):
    return repeated(first("condor/condor_q.json"), ",", "[", "]")(count)


def openpbs_jobs(count):
    job = first("status/qstat-json/jobs.json", "Jobs")
    jobs = ",".join(f'"{number}.s": {job}' for number in range(count))
    return f'{{"timestamp": 1795184600, "pbs_version": "22.05.11", "Jobs": {{{jobs}}}}}'


def torque_jobs(count):
    job = "<Job><Job_Id>1.s</Job_Id><Job_Name>a</Job_Name><job_state>Q</job_state></Job>"
    return repeated(job, "", "<Data>", "</Data>")(count)


def cell_jobs(count):
    job = (
        "<job_list state='running'><JB_job_number>1</JB_job_number><JAT_prio>0.5</JAT_prio>"
        "<JB_name>a</JB_name><JB_owner>u</JB_owner><state>r</state><slots>1</slots></job_list>"
    )
    around = "<job_info><queue_info>", "</queue_info><job_info></job_info></job_info>"
    return repeated(job, "", *around)(count)


def compressed(module):
    return lambda count: module.compress(b"<Job><Id>1</Id></Job>\n" * 500 * count)


STATUS_GROWN = {
    "squeue-json": of_json("jobs", "lcginfo/slurm-24.11/squeue.json"), "condor-q": condor_jobs,
    "qstat-json": openpbs_jobs, "qstat-xml": torque_jobs, "sge-xml": cell_jobs,
}  # fmt: skip
STATUS_EXAMPLES = {
    "condor-q": ("tests/data/condor/condor_q.*", "tests/data/lcginfo/condor/condor_q*"),
    "squeue-json": ("tests/data/lcginfo/slurm-*/squeue.json",),
    "scontrol": (
        "tests/data/lcginfo/slurm-*/scontrol-show-job*",
        "examples/lcginfo/scontrol-jobs*",
    ),
    "qstat-text": ("tests/data/lcginfo/pbs/qstat-f.txt",),
    "sge-xml": ("tests/data/lcginfo/gridengine/qstat-xml*",),
    "flux": ("tests/data/records/flux/*",),
}
QUEUES = {"slurm": "slurm-*", "pbs": "pbs", "gridengine": "gridengine", "condor": "condor"}
TOML = 'names = ["a"]\n[rates.cpu]\nof = 1.5\n[[rate]]\nper = "1"\n'


# Who reads it, in which form, and so many rows of it.
REFERENCES = (
    ("names", None, "CSV",
     lambda n: "user,department\n" + "".join(f"u{i},Physics\n" for i in range(n))),
    ("names", None, "TOML",
     lambda n: "".join(f'[[user]]\nname = "u{i}"\ndepartment = "a"\n' for i in range(n))),
    ("rates", reference.rates, "CSV",
     lambda n: "user,cpu_hour\n" + "".join(f"u{i},0.5\n" for i in range(n))),
    ("rates", reference.rates, "TOML",
     lambda n: "".join(f'[[rate]]\nuser = "u{i}"\ncpu_hour = 0.5\n' for i in range(n))),
    ("factors", reference.factors, "CSV",
     lambda n: "machine,factor\n" + "".join(f"m{i},1.5\n" for i in range(n))),
    ("factors", reference.factors, "TOML",
     lambda n: "".join(f'[[factor]]\nmachine = "m{i}"\nfactor = 1.5\n' for i in range(n))),
)  # fmt: skip
STATE = '{"version": 2, "logs": [], "watched": [%s], "output": [1, 5]}'
RECEIPT = '{"message": "a/%d", "id": "1", "bytes": 2, "sha256": "00", "to": "x"}\n'
KEPT_STATUS = '[{"used_cpu": "1"%s}, 1700000000, 1700000000, true]'


RECORDS_GROWN = {
    "slurm-json": repeated(
        '{"job_id": 1, "user": "a", "state": {"current": ["COMPLETED"]}}', ",", '{"jobs":[', "]}"
    ),
    "flux": of_json("jobs", "records/flux/jobs.json"),
}
CAR = (
    '<com:UsageRecord><com:RecordIdentity com:recordId="r" com:createTime="2013-02-22T15:58:44Z"/>'
    "<com:JobIdentity><com:LocalJobId>1</com:LocalJobId></com:JobIdentity><com:Status>completed"
    "</com:Status><com:EndTime>2013-02-22T15:58:44Z</com:EndTime></com:UsageRecord>"
)
RECORDS_GROWN["car"] = repeated(
    CAR, "", '<com:UsageRecords xmlns:com="http://eu-emi.eu/namespaces/2012/11/computerecord">',
    "</com:UsageRecords>",
)  # fmt: skip
FLUX = (
    '{"version": VERSION, "resources": [{"type": "slot", "count": 2, "label": "task", "with": '
    '[{"type": "core", "count": 1}]}], "tasks": [{"command": ["/bin/date"',
    '], "slot": "task", "count": {"per_slot": 1}}], "attributes": {"system": {"duration": 600}}}',
)
JSDL = (
    '<JobDefinition xmlns="http://schemas.ggf.org/jsdl/2005/11/jsdl"><JobDescription><Application>'
    '<POSIXApplication xmlns="http://schemas.ggf.org/jsdl/2005/11/jsdl-posix">'
    "<Executable>/bin/date</Executable>",
    "</POSIXApplication></Application></JobDescription></JobDefinition>",
)
SCRIPTS_GROWN = {
    "flux": repeated(', "a"', "", FLUX[0].replace("VERSION", "1"), FLUX[1]),
    "flux-canonical": repeated(', "a"', "", FLUX[0].replace("VERSION", "999"), FLUX[1]),
    "slurmrest": repeated(
        '"A=1"', ", ", '{"job": {"script": "#!/bin/sh\\n", "environment": [', "]}}"
    ),
    "psij": repeated('"a"', ", ", '{"executable": "/bin/date", "arguments": [', "]}"),
    "jsdl": repeated("<Argument>a</Argument>", "", *JSDL),
}
QUEUES_GROWN = {
    "slurm": of_json("jobs", "lcginfo/slurm-24.11/squeue.json"),
    "condor": condor_jobs,
    "gridengine": cell_jobs,
}

PARSERS = {
    "trees": Target(lambda data: drained(tree.units(data)), DOCUMENTS),
    "slices": Target(lambda data: drained(slices.slices(data)), DOCUMENTS),
    "values": Target(values, DOCUMENTS),
    "check": Target(lambda data: drained(check_source(data)), DOCUMENTS),
    "repair": Target(lambda data: 1 + drained(advise(data)), DOCUMENTS),
    "messages": Target(lambda data: drained(bundles(io.BytesIO(data))), DOCUMENTS),
    "query": Target(xpath1, (), EXPRESSIONS, repeated("//Job[User = 'a']/Id", " or ")),
    "query 3.1": Target(xpath2, (), EXPRESSIONS + LATER, repeated("sort(//Job/Id) ! 1", ", ")),
    "ads": Target(
        lambda data: drained(forms.read(io.BytesIO(data))),
        ("tests/data/condor/*",),
        grown=repeated("A = 1\nB = A + {2, [c = 3]}\n\n"),
    ),
    "ad expression": Target(
        lambda data: parser.expression(text(data)),
        (),
        AD_EXPRESSIONS,
        repeated("(TARGET.Memory >= 5)", " && "),
    ),
    "offers": Target(
        lambda data: drained(offers.read(data)),
        ("examples/requested/*.json",),
        grown=repeated('{"id": "n1", "Processors": 4, "Feature": ["ib"]}', ",", "[", "]"),
    ),
    "LDIF": Target(lambda data: drained(ldif.read(data)), ("examples/lcginfo/*.ldif",)),
    "configuration": Target(lambda data: config.parse(text(data)), ("examples/lcginfo/*.conf",)),
    "listing": Target(listing, ("tests/data/lcginfo/text/lrmsinfo", "examples/lcginfo/lrmsinfo")),
    "caps": Target(
        lambda data: caps.read(text(data)),
        ("tests/data/lcginfo/text/vo-max-jobs",),
        ("{'atlas': 30, \"cms\": 4}",),
        lambda n: "{" + ", ".join(f"'g{i}': 1" for i in range(n)) + "}",
    ),
    "caps Maui": Target(
        lambda data: maui.caps(text(data)), ("tests/data/lcginfo/maui/diagnose-g.txt",)
    ),
    **{
        f"caps {name}": Target(
            partial(caps_of, name),
            ("tests/data/lcginfo/slurm-22.05/sacctmgr-assoc.txt",),
            ("{\nname a\nenabled TRUE\nlimit users {*} to slots=5\n}\n",),
        )
        for name, system in registry.all_systems().items()
        if system.caps
    },
    "settings": Target(
        partial(in_a_file, rows_of_settings),
        ("examples/**/*.toml", "tests/data/*.toml"),
        (TOML,),
        lambda n: "".join(f"[a{i}]\nb = 1\n" for i in range(n)),
    ),
    "settings of the gateway": Target(
        partial(in_a_file, gateway.load),
        ("examples/gateway/*.toml",),
        grown=repeated('"127.0.0.1:7112"', ", ", "listen = [", "]\n[security]\nunsigned = true\n"),
    ),
    "feature values": Target(
        feature_values,
        (),
        ("\n".join(["4", "2.5", "86400", "1700000000", "x"] * 9),),
        lambda n: "\n".join(["4"] * 40) + "\n" + "x\n" * n,
    ),
    "feature server": Target(
        feature_server,
        (),
        ('["hs06", "total_cpu"]', '<a href="hs06">hs06</a>', "hs06\njobslots\n"),
        repeated('<a href="hs06">hs06</a>'),
    ),
    "condor configuration": Target(
        condor_configuration,
        ("examples/condor/config.txt",),
        (),
        lambda n: "".join(f"SLOT_TYPE_{i} = cpus=1\n" for i in range(n)),
    ),
    **{
        f"reference {name} in {form}": Target(
            partial(in_a_file, partial(of_reference, read), name=f"a.{form.lower()}"),
            (),
            (make(2),),
            make,
        )
        for name, read, form, make in REFERENCES
    },
    "state of logs": Target(
        partial(in_a_file, LogsState.read),
        (),
        (STATE % "",),
        lambda n: STATE % ", ".join(f'"{i}"' for i in range(n)),
    ),
    "receipts": Target(
        partial(in_a_file, lambda path: Receipts(path).names()),
        (),
        (RECEIPT % 1,),
        lambda n: "".join(RECEIPT % i for i in range(n)),
    ),
    "kept status": Target(
        lambda data: of_status.loads(data, "here"),
        (),
        (KEPT_STATUS % "",),
        lambda n: KEPT_STATUS % "".join(f', "k{i}": "1"' for i in range(n)),
    ),
    "compressed zstandard": Target(
        decompressed,
        (),
        (zstandard.compress(b"<Job/>"),),
        lambda n: zstandard.compress(b"<Job><Id>1</Id></Job>\n" * 500 * n),
    ),
    **{
        f"compressed {module.__name__}": Target(
            decompressed, (), (module.compress(b"<Job/>"),), compressed(module)
        )
        for module in (gzip, bz2, lzma)
    },
    "requests": Target(framed, ("tests/data/gold/*.c2s.bin",)),
    "replies": Target(replied, ("tests/data/gold/*.s2c.bin",)),
    "envelopes": Target(
        enveloped,
        ("tests/data/gold/*.xml",),
        grown=repeated(
            '<Where name="Name" op="EQ">a</Where>',
            "",
            '<Envelope><Body><Request action="Query" actor="a"><Object>Job</Object>',
            "</Request></Body></Envelope>",
        ),
    ),
    **{
        f"records {name}": Target(
            partial(records_of, name),
            tuple(
                f"{place}/{name}/**/*" for place in ("tests/data/records", "tests/data/accounting")
            )
            + (("examples/slurm/*.txt", "tests/data/slurm/**/*.txt") if name == "slurm" else ())
            + (("tests/data/condor/*",) if name == "condor" else ()),
            grown=RECORDS_GROWN.get(name),
        )
        for name in registry.all_formats()
    },
    **{
        f"scripts {name}": Target(
            partial(script, name),
            (*SCRIPTS, f"tests/data/translate/{name}.*"),
            (),
            SCRIPTS_GROWN.get(name),
            partial(scripts_of, name) if row.writes else tuple,
        )
        for name, row in registry.all_targets().items()
        if row.reads
    },
    **{
        f"status {name}": Target(
            partial(status_of, name),
            (f"tests/data/status/{name}/*", *STATUS_EXAMPLES.get(name, ())),
            (),
            STATUS_GROWN.get(name),
        )
        for name in registry.all_status_formats()
    },
    **{
        f"queue {name}": Target(
            partial(queue_of, name),
            (f"tests/data/lcginfo/{QUEUES.get(name, name)}/*",),
            (),
            QUEUES_GROWN.get(name),
        )
        for name, system in registry.all_systems().items()
        if system.queue
    },
    **AROUND,
}


def alone(document):
    """The job objects of a part that was cut out, which has to be readable by itself."""
    try:
        return [from_tree(each) for each in tree.units(document)]
    except SSSJobError as error:
        raise AssertionError(f"what was cut out cannot be read: {error}") from error


def trees_and_slices(data):
    """A slice is the bytes of a Job or JobGroup of the tree; what else stands there is told."""
    ill, told = [], []
    trees = [from_tree(each) for each in tree.units(data, on_error=ill.append)]
    cut = [
        block
        for each in slices.slices(data, on_error=told.append)
        for block in alone(each.document)
    ]
    jobs = [canonical.canon(each) for each in trees if each.name in ("Job", "JobGroup")]
    assert jobs == [canonical.canon(each) for each in cut]
    others = "holds none [E-UNKNOWN]"  # of a part of a job, slices alone say so
    ill, told = ([text for text in map(str, of) if not text.endswith(others)] for of in (ill, told))
    assert ill == told


QUERIES = ("//Job/Id", "//Job[Memory > 600]/@*", "count(.//Processors)", "//JobGroup/Job[2]/Id")


def batches_and_units(data):
    """A question is answered for many job objects at once as for each alone."""
    for expression in QUERIES:
        asked = query.compile(expression)
        one, many = [], []
        located = tree.located(data, on_error=one.append, wanted=tree.Wanted.DOCUMENTS)
        alone = [shown(each) for each in asked.of_units(located, False, True, one.append)]
        with mock.patch.object(guesses, "SIZE", 40):
            found = asked.run(io.BytesIO(data), on_error=many.append)
            assert [shown(each) for each in found] == alone
        assert [str(each) for each in many] == [str(each) for each in one]


def shown(match):
    return match.text, match.path, match.line, match.job


def acceptance_and_walk(data):
    """What the grammar accepts, the walk has nothing to say about."""
    found = []
    for worth in (0, 1 << 30):
        with mock.patch.object(accept, "_WORTH_A_GRAMMAR", worth):
            found.append([str(each) for each in check_source(data)])
    assert found[0] == found[1]


def store_and_file(data):
    """What is kept of a file is what stands in it, where no job comes twice, also in groups."""
    cut = [*slices.slices(data, on_error=[].append)]
    units = [alone(each.document)[0] for each in cut]
    ids = [each.id for each in units]
    inside = [job.id for each in units if isinstance(each, JobGroup) for job in each.jobs]
    if not all(ids) or len({*ids}) < len(ids) or not {*inside}.isdisjoint(ids):
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "file.xml")
        path.write_bytes(data)
        with store.open(Path(directory, "jobs.db"), create=True) as jobs:
            jobs.load(path, on_error=[].append)
            kept = sorted(each.document for each in jobs.documents())
    assert kept == sorted(each.document for each in cut)


_TWO = "<Jobs>{0}<Job><Id>\u00e91</Id></Job>{0}<Job><Id>2</Id>{0}</Job></Jobs>"
# What a document may have around its jobs and in them, each by itself and in a wrapper.
FORMS = (
    "<Job><Id><![CDATA[1]]></Id></Job>",
    *(_TWO.format(each) for each in ("", "<![CDATA[ ]]>", "<!-- <Job> -->", "<?a <Job>?>", "\r\n")),
    '<?xml version="1.0"?>\r\n<?a b?><!-- c --><Job>\r\n<Id>1</Id>\r\n</Job>\r\n',
    "\ufeff" + _TWO.format("\n"),
    _TWO.format("").encode("utf-16"),
    b'<?xml version="1.0" encoding="ISO-8859-1"?>' + _TWO.format("").encode("latin-1"),
    '<a:Jobs xmlns:a="a:b" xmlns:b="c"><Job b:d="e"><Id>1</Id></Job></a:Jobs>',
    "<JobGroup><Job><Id><![CDATA[1]]></Id></Job></JobGroup>" * 2,
)
DIFFERENCES = {
    "trees and slices": Target(trees_and_slices, DOCUMENTS, FORMS),
    "batches and units": Target(batches_and_units, DOCUMENTS, FORMS),
    "acceptance and walk": Target(acceptance_and_walk, DOCUMENTS, FORMS),
    "store and file": Target(store_and_file, DOCUMENTS, FORMS),
}
TARGETS = PARSERS | DAMAGED | DIFFERENCES


NAMES = sorted({row.name for table in spec.TABLES.values() for row in table})
WORDS = [
    *(f"<{name}>" for name in NAMES), *(f"</{name}>" for name in NAMES),
    *(f' {row.name}="' for row in spec.ATTRIBUTES),
    "<Job>", "</Job>", "<JobGroup>", "<Jobs>", "<!--", "-->", "<![CDATA[", "]]>", "<?x ", "?>",
    "&amp;", "&#0;", "&#x1F600;", "<!DOCTYPE a [", ' xmlns:a="b"', ' xmlns=""', "\0", "\x1b[2J",
    "\u202e", "-1", "0", "1e400", "1e-9999999999999999999", "NaN", "9" * 40, "1.5", "-0",
    "2016-12-31T23:59:60Z", "PT-1S",
    *"{}[](),:;|=\\'\"\n\t`%*@", "\r\n", "#SBATCH ", "#PBS ", "#$ ", "#BSUB ", "$(", "//", "..",
    "union ", "for $a in ", " return ", "COMPLETED",
]  # fmt: skip
# What stands in the place of a number.
NUMBERS = [
    each.encode() for each in (
        "9" * 5000, "1" * 400, "1e400", "1e-400", "1e-9999999999999999999", "1e9999999999999999999",
        "0x" + "f" * 300, "-1", "0", "-0", "1.5", "\u00b2", "\u0663", "NaN", "inf", "1_0", "+1", "",
    )
]  # fmt: skip
_DIGITS = re.compile(rb"[0-9]+")
JOINTS = (b"<", b"\n", b"|", b" ", b",", b'"', b"=")


def mutated(data: bytes, chance: Random) -> bytes:
    """The pieces of an input in another order, some of them twice, missing, or another word.

    Or another number, of one in four that has any.
    """
    if chance.random() < 0.25 and (found := [*_DIGITS.finditer(data[:LARGEST])]):
        one = chance.choice(found)
        return data[: one.start()] + chance.choice(NUMBERS) + data[one.end() :]
    joint = chance.choice(JOINTS)
    pieces = data.split(joint)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, other = chance.randrange(len(pieces)), chance.randrange(len(pieces))
        match chance.randrange(7):
            case 0:
                del pieces[at]
            case 1:
                pieces.insert(at, pieces[other])
            case 2:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case 3:
                pieces[at] = chance.choice(WORDS).encode("utf-8", "surrogatepass")
            case 4:
                pieces[at] += chance.choice(WORDS).encode("utf-8", "surrogatepass")
            case 5:
                pieces[at] = pieces[at][: chance.randrange(len(pieces[at]) + 1)]
            case _:
                pieces[at] = pieces[at] + chance.randbytes(1) + pieces[at]
        if not pieces:
            return b""
    return joint.join(pieces)[: 2 * LARGEST]
