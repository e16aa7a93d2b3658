"""Targets around documents and records: what machines, servers, batch systems and browsers say, and
what stands in directories that others may have changed.
"""

import io
import json
from contextlib import ExitStack
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from fuzz_target import DATA, Target, drained, in_a_file, repeated, text, tried

from sssjob import registry, store
from sssjob.accounting import sending
from sssjob.accounting.sending import ams
from sssjob.accounting.sending.queue import DirectoryQueue
from sssjob.addresses import MANIFESTS
from sssjob.client import json_requests, terms
from sssjob.document.sources import NamedSource
from sssjob.features import discover, keys, notices, remote, used
from sssjob.features import status as of_status
from sssjob.handlers.attributes import GROUP, JOB
from sssjob.handlers.conditions import Conditions
from sssjob.handlers.view import views
from sssjob.lcginfo import history
from sssjob.rmap import envelope, signature
from sssjob.rmap.keys import Key
from sssjob.verbs.audit import Sides

NEXT = b"\n--\n"  # between what is answered to one question and to the next
NOW = 1_795_000_000


class Answers:
    """What is said to one question after the other: a part of the bytes each, the last for all."""

    def __init__(self, data):
        self._parts = data.split(NEXT)

    def next(self):
        return self._parts.pop(0) if len(self._parts) > 1 else self._parts[0]

    def to_a_session(self, session, url, limit, options):
        data = self.next()
        response = mock.Mock(status_code=200, iter_content=lambda _: [data])
        return remote._text(response, url, limit)

    def printed(self, *_):
        return self.next().decode("utf-8", "replace")


ASKING = (
    "sssjob.systems.condor.notices.answer", "sssjob.systems.slurm.notices.answer",
    "sssjob.features.batch.call.asked",
)  # fmt: skip


def noticed(name, data):
    """What a source of notices says where it, or who it asks, answers so."""
    said = Answers(data)
    around = {
        "POD_NAMESPACE": "a", "POD_NAME": "b", "KUBERNETES_SERVICE_HOST": "localhost",
        "SLURM_JOB_ID": "1", "_CONDOR_SLOT": "slot1",
    }  # fmt: skip
    with TemporaryDirectory() as root, ExitStack() as stack:
        place = Path(root, "run/systemd/shutdown")
        place.mkdir(parents=True)
        (place / "scheduled").write_bytes(data)
        stack.enter_context(mock.patch.object(remote, "_answered", said.to_a_session))
        for each in ASKING:
            stack.enter_context(mock.patch(each, said.printed))
        asked = notices.Surroundings(around, node="n1", root=root, url="http://localhost")
        found = [*notices._source(name)(asked, NOW)]
    return any(isinstance(each, notices.Notice) for each in found)


def discovered(data):
    with mock.patch.object(remote, "_answered", Answers(data).to_a_session):
        return discover.discover("http://localhost")


NAMES = [row.name for row in keys.JOB_STATUS]


def job_status(data):
    """A directory of $JOBSTATUS: each line is that of the next key."""
    with TemporaryDirectory() as directory:
        for name, line in zip(NAMES, data.split(b"\n"), strict=False):
            Path(directory, name).write_bytes(line)
        found = of_status.read(directory, wait=0)
        return found is not None and of_status.loads(of_status.dumps(found), directory)


ARGUMENTS = ("1.server", "amy", "staff", "name", "neednodes=1,walltime=01:00:00")
# As a prolog has it.
ENVIRONMENT = {
    "SLURM_JOB_ID": "3", "SLURMD_NODENAME": "n1", "JOB_ID": "31", "QUEUE": "q", "HOSTNAME": "n1",
    "LSB_JOBID": "7", "FLUX_JOB_ID": "1",
}  # fmt: skip


def allocated(name, data):
    """What a batch system says to a prolog, or has in the spool of a job, whatever it is asked."""
    with TemporaryDirectory() as spool:
        for each in ("config", "usage"):
            Path(spool, each).write_bytes(data)
        side = registry.system(name).load("script")
        script = side(ARGUMENTS, {**ENVIRONMENT, "SGE_JOB_SPOOL_DIR": spool})
        answered = Answers(data).printed()
        said = {
            each: answered
            for asked in (
                script.questions(), script.node_questions("n1"), script.outages("n1"),
                script.listings("n1"),
            )
            for each in asked
        }  # fmt: skip
        script.again(answered)
        script.used()
        found = script.allocation(said, asking=True)
        outage = script.shutdown("n1", said, NOW)
        return any((
            found.amounts, script.processors("n1", said), script.present("n1", said),
            outage and outage.moment,
        ))  # fmt: skip


def environment(name, data):
    """Variables of a job, one on each line."""
    pairs = (line.partition("=") for line in text(data).split("\n"))
    given = {name: value for name, equals, value in pairs if equals and "\0" not in value}
    found = registry.system(name).inside.load()(given)
    return found is not None and found.job


def own_environment(name, data):
    """The same where a file holds what variables name."""
    return in_a_file(
        lambda path: environment(
            name, f"_CONDOR_JOB_AD={path}\n_CONDOR_MACHINE_AD={path}".encode()
        ),
        data,
    )


def kept_answers(data):
    with TemporaryDirectory() as directory:
        Path(directory, "1.json").write_bytes(data)
        return history.read(Path(directory))[0]


def sums(data):
    runs, found = Sides([].append).against([NamedSource("sums", io.BytesIO(data))])
    return runs or found


def sent(data):
    """A message that is put into an outbox, in parts, and taken from there."""
    with TemporaryDirectory() as place:
        outbox = DirectoryQueue(Path(place, "outbox"))
        parts = [*sending.messages(data.splitlines(keepends=True))]
        outbox.put(parts, sending.parted)
        assert outbox.put(parts, sending.parted) == len(parts)
        receipts = sending.Receipts(Path(place, "receipts"))
        topic = mock.Mock(url="http://localhost")
        return parts and [*sending.send(outbox, topic, receipts, lambda *_: "1")]


def accepted_message(data):
    return ams._number(mock.Mock(url="http://localhost"), 200, data)


def used_by_a_group(data):
    """The files of a control group: the first line is that of the first, and so on."""
    names = ("memory.peak", "memory.swap.peak", "cpu.stat")
    with TemporaryDirectory() as directory:
        for name, line in zip(names, data.split(b"\n", len(names) - 1), strict=False):
            Path(directory, name).write_bytes(line)
        return used.of_cgroup(directory)


JOBS = "".join(
    f"<Job><Id>{each}</Id><User>amy</User><State>Completed</State><Charge>{each}.5</Charge>"
    f"<Requested><Memory units='MB'>{each}</Memory></Requested><EndTime>{each}</EndTime></Job>"
    for each in range(3)
)


@cache
def kept_jobs():
    """Jobs of a store, as conditions look at them."""
    with TemporaryDirectory() as place, store.open(Path(place, "jobs.db"), create=True) as jobs:
        jobs.load(JOBS.encode())
        return [view for each in jobs.documents() for view in views(each, JOB)]


def conditions(data):
    """Where, a condition on each line, asked of some jobs."""
    asked = Conditions(terms.wheres(text(data).split("\n")), JOB)
    tried(lambda _: Conditions(terms.wheres(text(data).split("\n")), GROUP), b"")
    return asked.plan, asked.is_planned, asked.only_id, [*map(asked.hold, kept_jobs())]


def term(data):
    """What is asked for, changed or wished, one on each line."""
    found = False
    for line in text(data).split("\n"):
        for read in (terms.get, terms.change, terms.option):
            found |= tried(lambda _, read=read, line=line: read(line), b"")
    return found


def pages_refuse(run, data):
    """A page, which may refuse by a status."""
    from starlette.exceptions import HTTPException

    try:
        return run(data)
    except HTTPException:
        return False


def body(data):
    """A request in JSON."""
    from sssjob.rmap.responder import Policy
    from sssjob.web import requested

    asked = mock.Mock(body=data, keys=("k",), reader=mock.Mock())
    asked.reader.name = "amy"
    return requested._request(asked, Policy().markup_limit)


def parameters(data):
    """The query of an address, of whatever page."""
    from urllib.parse import parse_qsl

    from sssjob.web.parameters import given
    from sssjob.web.routes import SERVED, VIEWS

    pairs = parse_qsl(text(data), keep_blank_values=True, errors="surrogateescape")
    asked = [
        view for view in (*VIEWS, *SERVED)
        if tried(lambda _, view=view: given(pairs, view.parameters), b"")
    ]  # fmt: skip
    return pairs and asked


@cache
def site():
    """The pages of a store, which are asked in this process."""
    from starlette.testclient import TestClient

    from sssjob.web.app import application

    place = TemporaryDirectory()
    address = Path(place.name, "jobs.db")
    with store.open(address, create=True) as jobs:
        jobs.load(JOBS.encode())
    app = application(str(address), title="jobs", token="t", hosts=frozenset(("localhost",)))
    client = TestClient(
        app, base_url="http://localhost", headers={"authorization": "Bearer t"},
        follow_redirects=False,
    )  # fmt: skip
    return place, client


def page(data):
    """The path and the query of an address; what a page raises is raised here."""
    from urllib.parse import quote

    _, client = site()
    path = quote(data.partition(b"\n")[0], safe="/?&=;:+,%.-_~")
    answer = client.get("/" + path.lstrip("/"))
    assert answer.status_code < 500, answer.text
    return answer.status_code == 200


def signed(data):
    """A message, of which each form is made that may have been signed."""
    sealed = envelope.opened(data)
    count = drained(signature.forms(sealed))
    return tried(lambda _: signature.verify(sealed, Key(b"key")), b"") or count


def jsonl(data):
    return json_requests._read(data, "http://localhost")


@cache
def kept_ledger():
    """A ledger of a run, with the bytes of its files by their paths."""
    from ledger_runs import FIRST, run

    from sssjob.ledger import ledger

    with TemporaryDirectory() as place:
        home = Path(place, "usage")
        ledger.create(home).add([FIRST, run(8, start=5, end=9)])
        found = (each for each in home.rglob("*") if each.is_file())
        return {str(each.relative_to(home)): each.read_bytes() for each in sorted(found)}


def in_a_ledger(files, work):
    with TemporaryDirectory() as place:
        home = Path(place, "usage")
        for name, data in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(data)
        return work(home)


def manifest_of(data):
    """What a manifest says, as if it was written so."""
    from sssjob.ledger import manifest

    files = kept_ledger()
    name = max(each for each in files if each.startswith(MANIFESTS))
    told = data.replace(b"\n", b" ")
    head = json.loads(files[name].partition(b"\n")[0])
    head["digest"] = blake2b(told.rstrip(b"\n"), digest_size=16).hexdigest()
    changed = {**files, name: json.dumps(head).encode() + b"\n" + told + b"\n"}
    return in_a_ledger(changed, manifest.newest)


def manifests():
    files = kept_ledger()
    name = max(each for each in files if each.startswith(MANIFESTS))
    yield files[name].partition(b"\n")[2].decode()


def patched(whole, data):
    """Bytes with others in their places: a line has the place of the first and, in hex, all."""
    found = bytearray(whole)
    for line in text(data).split("\n"):
        at, _, others = line.partition(" ")
        if at.isascii() and at.isdigit() and len(at) < 10:
            try:
                changed = bytes.fromhex(others)
            except ValueError:
                continue
            begin = int(at) % len(found)
            found[begin : begin + len(changed)] = changed
    return bytes(found)


def damaged_ledger(data):
    """A ledger of which a file of rows has other bytes: checked, and read."""
    from sssjob.ledger import jobs, ledger, upkeep

    files = kept_ledger()
    name = next(each for each in files if each.endswith(".parquet") and "usage/" in each)
    changed = {**files, name: patched(files[name], data)}

    def read(home):
        found = ledger.opened(home)
        upkeep.check(found)
        return drained(jobs.jobs(found, [].append))

    return in_a_ledger(changed, read)


@cache
def kept_store():
    with TemporaryDirectory() as place:
        address = Path(place, "jobs.db")
        with store.open(address, create=True) as jobs:
            jobs.load(JOBS.encode())
            jobs.load(JOBS.replace("Completed", "Failed").encode())
            jobs.load(b"<Data><Job><Id>9</Id><Executable>#f</Executable></Job>"
                      b"<File id='f'>x</File></Data>")  # fmt: skip
        return address.read_bytes()


def damaged_store(data):
    """A store in SQLite with other bytes in its file: checked, and read."""

    def read(path):
        with store.open(path, read_only=True) as jobs:
            tried(lambda _: [*jobs.check()], b"")
            tried(lambda _: [*jobs.versions("1", on_error=[].append)], b"")
            tried(lambda _: jobs.statistics(), b"")
            tried(lambda _: [*jobs.changes()], b"")
            for each in jobs.documents(on_error=[].append):
                tried(lambda _, each=each: jobs.files(each), b"")
                tried(lambda _, each=each: [*views(each, JOB)], b"")
            return jobs.count()

    return in_a_file(read, patched(kept_store(), data), "jobs.db")


SIGNED = (
    '<Envelope><Body><Request action="Query" actor="a"><Object>Job</Object>'
    '<Where name="Name" op="EQ">%s</Where></Request></Body></Envelope>'
)
SPOT = '{"action": "terminate", "time": "2026-11-25T08:22:00Z"}'
EVENT = '{"State": "active", "NotBefore": "21 Jan 2026 09:00:43 GMT", "Code": "instance-stop"}'
OF_AZURE = (
    '{"EventId": "1", "EventType": "Preempt", "EventStatus": "Scheduled",'
    ' "NotBefore": "Wed, 25 Nov 2026 08:22:00 GMT", "Resources": ["vm1"]}'
)
events = repeated(OF_AZURE, ", ", '{"Events": [', "]}")
TAINT = '{"key": "a", "effect": "NoExecute", "timeAdded": "2026-11-25T08:22:00Z"}'
POD = (
    '{"metadata": {"deletionTimestamp": "2026-11-25T08:22:00Z"}, "spec": {"nodeName": "n1",'
    ' "tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 30}],'
    ' "unschedulable": true, "taints": [%s]}}'
)
SLOT = 'Machine = "n1"\nName = "slot1@n1"\nState = "Claimed"\nActivity = "Busy"\nDraining = true\n'
SLOT += "LastDrainStartTime = 1700000000\nTotalJobRunTime = 5\n"
RESERVATION = (DATA / "batch/scontrol-reservations.txt").read_text()


def with_more(count, told):
    """An object of JSON with what is asked, and with so many values that nobody asks for."""
    return f'{{{told}, "a": [{", ".join("1" * count)}]}}'


def joined(*answers):
    return NEXT.decode().join(answers)


NOTICES = {
    "features": None,
    "systemd": (("USEC=1795003600000000\nMODE=poweroff\n",),
                lambda n: "USEC=1795003600000000\n" + "A=1\n" * n),
    "kubernetes": ((POD % TAINT, joined("{}", POD % TAINT)),
                   lambda n: POD % ", ".join([TAINT] * n)),
    "aws": ((joined("token", SPOT, f"[{EVENT}]"),),
            lambda n: joined("token", SPOT, f"[{', '.join([EVENT] * n)}]")),
    "azure": ((joined(events(1), "vm1"),),
              lambda n: joined(events(n), "vm1")),
    "gce": (("TRUE", joined("NONE", "TERMINATE_ON_HOST_MAINTENANCE",
                            '{"window_start_time": "2026-01-01T00:00:00Z"}')),
            lambda n: joined("NONE", "TERMINATE_ON_HOST_MAINTENANCE",
                             with_more(n, '"window_start_time": "2026-01-01T00:00:00Z"'))),
    "condor": ((SLOT,), repeated(f"{SLOT}\n")),
    "slurm": ((joined(RESERVATION, "1 RUNNING 2026-11-25T08:22:00 2026-11-25T08:20:00"),),
              lambda n: joined(RESERVATION, "1 RUNNING 2026-11-25T08:22:00 2026-11-25T08:20:00",
                               "2 RUNNING 1 N/A N/A a\n" * n)),
}  # fmt: skip
LSF_ROW = (
    '{"JOBID": "7", "USER": "amy", "EXEC_HOST": "2*n1", "RUNTIMELIMIT": "60.0", "MEMLIMIT": "4 G"}'
)
lsf_rows = repeated(LSF_ROW, ", ", '{"RECORDS": [', "]}")


def flux_resources(count):
    """The resources of a job that has so many ranks."""
    rows = ", ".join(f'{{"rank": "{n}", "children": {{"core": "0"}}}}' for n in range(count))
    times = '"starttime": 1700000000, "expiration": 1700003600'
    return f'{{"version": 1, "execution": {{"R_lite": [{rows}], {times}}}}}'


FLUX_R = (
    '{"version": 1, "execution": {"R_lite": [{"rank": "0-%d", "children": {"core": "0-3"}}],'
    ' "starttime": 1700000000, "expiration": 1700003600}}'
)
ALLOCATIONS = {
    "slurm": (("tests/data/batch/scontrol-*.txt",), (), None),
    "pbs": (("tests/data/lcginfo/pbs/qstat-f.txt",),
            ("Job Id: 1.server\n    Resource_List.walltime = 01:00:00\n    exec_host = n1/0\n",),
            lambda n: "Job Id: 1.server\n    Resource_List.mem = 1gb\n" + "    a = 1\n" * n),
    "gridengine": (("tests/data/batch/sge-*",), (), repeated("h_vmem=4G\nh_rt 5\n")),
    "lsf": ((), (lsf_rows(1),), lsf_rows),
    "flux": ((), (FLUX_R % 3, "12|0-3"), flux_resources),
}  # fmt: skip
ENVIRONMENTS = {
    "slurm": "SLURM_JOB_ID=3\nSLURM_CPUS_ON_NODE=4\nSLURM_JOB_CPUS_PER_NODE=4(x2),8\n"
             "SLURM_MEM_PER_CPU=5\nSLURM_JOB_START_TIME=1700000000\n"
             "SLURM_JOB_END_TIME=1700003600\nSLURM_JOB_NODELIST=n[1-3]\n",
    "pbs": "PBS_JOBID=1.s\nPBS_NP=4\nNCPUS=4\nPBS_WALLTIME=60\n",
    "gridengine": "JOB_ID=7\nNSLOTS=4\nSGE_TASK_ID=3\nQUEUE=q\n",
    "lsf": "LSB_JOBID=7\nLSB_JOBINDEX=3\nLSB_MCPU_HOSTS=n1 4 n2 8\nLSB_DJOB_NUMPROC=12\n",
    "flux": "FLUX_JOB_ID=f1\nFLUX_JOB_SIZE=4\nFLUX_JOB_NNODES=1\n",
}  # fmt: skip
SREPORT = (
    "-" * 40 + "\nCluster Utilization 2026-11-01T00:00:00 - 2026-11-30T23:59:59\n"
    "Usage reported in CPU Seconds\n" + "-" * 40 + "\nCluster|Allocated|Down\n"
)
SYNC = "Site: s\nSubmitHost: h\nNumberOfJobs: 5\nMonth: 11\nYear: 2026\n%%\n"
RECORD = "Site: s\nLocalJobId: 1\n%%\n"
QUEUE_ANSWER = (
    '{"queue": "q", "vo": "v", "running": 1, "waiting": 2, "free": 3, "ert": 4, "wrt": 5}'
)

AROUND = {
    **{
        f"notices {name}": Target(partial(noticed, name), (), *row)
        for name, row in NOTICES.items() if row
    },
    "discovery": Target(
        discovered, (),
        ('{"meta": {"machinefeatures": "http://a/m", "jobfeatures": "/j"}}',
         joined("", "", "", "latest\n2018-08-27\n", "2018-08-27/", "", "http://a/m", "/j")),
        lambda n: with_more(n, '"meta": {"machinefeatures": "/m", "jobfeatures": "/j"}'),
    ),
    "status directory": Target(
        job_status, (), ("4\n1700000000\nTrue\n2.5\n1.5\n1000\n5\n",),
        lambda n: "4\n1700000000\nTrue\n" + "1\n" * n,
    ),
    **{
        f"allocation {name}": Target(partial(allocated, name), *row)
        for name, row in ALLOCATIONS.items()
    },
    **{
        f"environment {name}": Target(partial(environment, name), (), (said,), repeated(said))
        for name, said in ENVIRONMENTS.items()
    },
    "environment condor": Target(
        partial(own_environment, "condor"), ("tests/data/condor/*",),
        ("ClusterId = 1\nProcId = 0\nRequestCpus = 2\nCpus = 2\n",),
        lambda n: "ClusterId = 1\nProcId = 0\nCpus = 2\n" + "A = 1\n" * n,
    ),
    "kept queue states": Target(
        kept_answers, (), (f"[{QUEUE_ANSWER}]",), repeated(QUEUE_ANSWER, ", ", "[", "]")
    ),
    "sums": Target(
        sums, (), (f"APEL-sync-message: v0.1\n{SYNC}", f"{SREPORT}c|500|0\n"),
        lambda n: f"APEL-sync-message: v0.1\n{SYNC * n}",
    ),
    "outbox": Target(
        sent, (), (f"APEL-individual-job-message: v0.3\n{RECORD}", "anything"),
        lambda n: f"APEL-individual-job-message: v0.3\n{RECORD * n}",
    ),
    "answers of a topic": Target(
        accepted_message, (), ('{"messageIds": ["1"]}',),
        lambda n: with_more(n, '"messageIds": ["1"]'),
    ),
    "signatures": Target(
        signed, ("tests/data/gold/*.xml",),
        (SIGNED % "<![CDATA[a]]>",),
        lambda n: SIGNED % ("<![CDATA[a]]>" + "<a/>" * n),
    ),
    "answers in JSON": Target(
        jsonl, (), ('{"code": "000", "rows": [{"Id": "1"}]}',), repeated("1", ", ", "[", "]")
    ),
    "usage file": Target(
        partial(in_a_file, used.of_file), ("tests/data/features/sge-usage",),
        ("cpu_secs = 5\nmax_rss_bytes = 10\n",),
    ),
    "usage of a group": Target(
        used_by_a_group, (), ("500\n10\nusage_usec 7\nuser_usec 5\n",),
        lambda n: "500\n10\nusage_usec 7\n" + "user_usec 5\n" * n,
    ),
    "conditions": Target(
        conditions, (),
        ("User=amy", "(Charge>0.5\nOr Memory>=2MB)", "AndNot State=Failed\nId~1*",
         "EndTime>=1", 'User="a)"'),
        lambda n: "\n".join(["Charge>0.5"] * n),
    ),
    "terms": Target(
        term, (), ("Sum(Charge) as Total", "Charge+=5", "ShowHidden=True", "Job.Id"),
        repeated("Sum(Charge)\n"),
    ),
    "web bodies": Target(
        partial(pages_refuse, body), (),
        ('{"action": "Query", "object": "Job", "get": ["Id", "User"], "limit": 5,'
         ' "where": ["State=Idle", "Memory>5"], "option": ["ShowUsage=True"],'
         ' "path": ["Requested/Processors"]}',
         '{"action": "Modify", "set": ["State=Hold"], "data": "<Job><Id>1</Id></Job>"}'),
        repeated('"Charge>5"', ", ", '{"action": "Query", "where": [', "]}"),
    ),
    "web parameters": Target(
        parameters, (), ("user=amy&size=5&sort=-end", "by=user&since=5", "xpath=//Job&version=1.0"),
        lambda n: "user=" + "a" * n,
    ),
    "web pages": Target(
        page, (),
        ("jobs?user=amy", "jobs.json?size=2&after=3", "facets/user.json", "jobs/1/0.json",
         "jobs/1/0/translation?to=sbatch", "usage.json?by=month", "waits.csv", "jobs/by-id?id=1"),
        lambda n: "jobs?user=" + "a" * n,
    ),
    "manifests": Target(
        manifest_of, (), (), lambda n: json.dumps(
            {"number": 2, "files": [], "gone": [], "inputs": [["a", 1, "b", "c"]] * n,
             "written": 1, "why": "x"}), manifests,
    ),
}  # fmt: skip

# Of as many bytes, whatever they are: nothing in them grows.
DAMAGED = {
    "damaged ledger": Target(damaged_ledger, (), ("", "4 00", "100 ffff\n300 00", "900 01")),
    "damaged store": Target(
        damaged_store, (), ("", "100 ff", "5000 0000", "9000 ff\n12290 0d", "20000 00ff00")
    ),
}
