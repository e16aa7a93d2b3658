"""Commands that are killed with signal 9 at random moments: what stands is whole, a rerun heals.

    python tests/long/kills.py [KILLS [SEED [CASE ...]]]

Each row of the table is a command that changes something from one state to another. It is killed
so many times, in a process that is forked with all modules there, so that most kills come while it
works and not while Python starts; some are killed at chosen places, too. After each kill what is
there has to be one of the two states, or made of whole parts of both where the command says so, and
after a run that is let alone the second one, with nothing beside it.
"""

import fcntl
import json
import os
import pkgutil
import pwd
import re
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from fractions import Fraction
from functools import cache, partial
from importlib import import_module
from itertools import groupby, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import postgresql
import pytest
from job_service import JobService, asked
from pretended import Pretended

import sssjob
from sssjob import __main__ as program
from sssjob import store
from sssjob.client import GOLD, Client, Legacy
from sssjob.document import read
from sssjob.features import files
from sssjob.gateway.forwarding import Forwarding, ForwardingPlan
from sssjob.gateway.outbox import Outbox, ParcelState
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.ledger import ledger, upkeep
from sssjob.records import parts
from sssjob.rmap.keys import Key
from sssjob.rmap.message import Response, Row, Status
from sssjob.store.ledger import EntryKind
from sssjob.systems.condor.hooks.queue import ACCEPTED, OFFERED, STATES, copied
from sssjob.systems.condor.hooks.settings import HookSettings
from sssjob.verbs import convert

COUNT = 2000  # jobs of a document
HEADER = "JobID|JobName|State|ElapsedRaw|NCPUS\n"


def job(number, more=""):
    return f"<Job><Id>{number}</Id><State>Running</State>{more}</Job>"


def features(directory, number):
    """Words of a command that writes a directory of one job."""
    asked = f"<Processors>{number}</Processors><Memory>{number}</Memory>"
    document = f"<Job><Id>{number}</Id><Requested>{asked}</Requested></Job>"
    (directory / f"{number}.xml").write_text(document)
    return ["features", "job", f"{number}.xml", "job"]


def seen_features(directory):
    return tuple(sorted(files.texts(directory / "job")[0].items()))


def seen_file(name):
    return lambda directory: (directory / name).read_bytes() if (directory / name).exists() else b""


def records(directory):
    (directory / "sacct").write_text(
        HEADER + "".join(f"{number}|a|COMPLETED|60|4\n" for number in range(COUNT))
    )


def jobs(directory):
    (directory / "jobs.sss").write_text("\n".join(job(number) for number in range(COUNT)))


def converted(directory):
    records(directory)
    (directory / "out.sss").write_text("old")
    return ["convert", "--from", "slurm", "-o", "out.sss", "sacct"]


def delivered(directory):
    records(directory)
    jobs(directory)
    return ["deliver", "jobs.sss", "--record", "sacct", "--from", "slurm", "--in-place"]


def address_of(directory):
    """The store of a case: a file, or the database whose address stands in one."""
    named = directory / "address"
    return named.read_text() if named.exists() else str(directory / "jobs.db")


def opened(directory, **more):
    return store.open(address_of(directory), **more)


def imported(directory):
    jobs(directory)
    opened(directory, create=True).close()
    where = address_of(directory)
    return ["store", "import", where if "://" in where else "jobs.db", "jobs.sss"]


def delivered_to_a_store(directory):
    words = imported(directory)
    run(words, directory)
    records(directory)
    return ["deliver", words[2], "--record", "sacct", "--from", "slurm"]


def seen_store(directory):
    with opened(directory) as found:
        assert not [*found.check()]
        return tuple(sorted(each.document for each in found.documents()))


def of_parts(found, old, new):
    """Whether each document is whole, as it was or as it is to be, and none is missing."""
    return found in (old, new) or (len(found) == len(old) and {*found} <= {*old, *new})


class Case(NamedTuple):
    """A command that is prepared, what is seen of its effects, and what may stand besides.

    ``is_whole`` tells whether what is seen after a kill may be, of what was there before and is to
    be. Work with ``stops`` takes the number of the one at which it kills itself, and in every
    second try it does: so kills come between two writes that are too close for a random moment.
    """

    prepare: Callable[[Path], list[str] | Callable[..., None]]
    seen: Callable[[Path], object]
    beside: frozenset[str] = frozenset()
    is_whole: Callable[[object, object, object], bool] = lambda found, old, new: found in (old, new)
    in_postgresql: bool = False
    stops: int = 0


def put_into_outbox():
    """Put jobs into an outbox, move some on, and say of each that it is done."""
    queue = Outbox(Path("outbox"))
    with open("said", "a") as said:
        for number in range(300):
            key = str(number)
            queue.add(key, [("JobId", key)], 0.0)
            print("added", key, file=said, flush=True)
        for parcel in [*queue.left()]:
            queue.move(parcel, ParcelState.SENT)
            print("sent", parcel.key, file=said, flush=True)
    queue.close()


def filling(directory):
    Outbox(directory / "outbox").close()
    return put_into_outbox


def seen_outbox(directory):
    """Whether all was sent; what was said to be done is done."""
    queue = Outbox(directory / "outbox")
    try:
        waiting = {parcel.key for parcel in queue.left()}
        counts = queue.counts()
    finally:
        queue.close()
    said = directory / "said"
    for line in said.read_text().splitlines(keepends=True) if said.exists() else ():
        word, key = line.split()
        assert word == "added" or key not in waiting, line
    added = (
        {line for line in said.read_text().splitlines() if "added" in line} if said.exists() else ()
    )
    assert sum(counts.values()) >= len(added)
    return not waiting and sum(counts.values()) == 300


ME = pwd.getpwuid(os.getuid()).pw_name
SLOT = f'Name = "slot1@n1"\nCpus = 4\nMemory = 4096\nMachine = "n1"\nSSSRunsAs = "{ME}"\n'
WAITING = [
    f"<Job><Id>{number}</Id><User>{ME}</User><Executable>/bin/true</Executable></Job>"
    for number in range(4)
]


def hook(directory, program, *words):
    """Words of a hook about the jobs of a case, which are in a directory or in a store."""
    jobs = "jobs" if (directory / "jobs").exists() else "jobs.db"
    return ["condor", program, "--documents", jobs, "--state", "state", *words]


def put(directory):
    """Jobs in a directory, or in a store where a note says so."""
    if (directory / "in a store").exists():
        (directory / "jobs.sss").write_text("\n".join(WAITING))
        opened(directory, create=True).close()
        run(["store", "import", "jobs.db", "jobs.sss"], directory)
        return
    (directory / "jobs").mkdir()
    for number, text in enumerate(WAITING):
        (directory / "jobs" / f"{number}.xml").write_text(text)


def hooked(directory):
    """Jobs, and the ad of a slot on standard input."""
    put(directory)
    (directory / "stdin").write_text(SLOT)
    return hook(directory, "fetch-work")


def documents(directory):
    if (directory / "jobs.db").exists():
        with opened(directory) as found:
            assert not [*found.check()]
            texts = [each.document for each in found.documents()]
        return sorted((job for text in texts for job in read(text)), key=lambda job: job.id)
    return [job for file in sorted((directory / "jobs").glob("*.xml")) for job in read(file)]


def seen_offers(directory):
    """Whether a job was offered; one that was printed is, and none was printed twice."""
    (directory / "stdout").touch()
    printed = re.findall(r'SSSJobId = "([^"]*)', (directory / "stdout").read_text())
    assert len(printed) == len({*printed}), printed
    offered = {each.id for each in rows(directory) if each.state == OFFERED}
    assert {*printed} <= offered, (printed, offered)
    assert len(documents(directory)) == 4
    return bool(offered) and bool(printed)


def rows(directory):
    """What the queue knows of each job."""
    jobs = directory / ("jobs" if (directory / "jobs").exists() else "jobs.db")
    settings = HookSettings(str(jobs), state=str(directory / "state"))
    return [*copied(settings).jobs(*STATES)]


def accepted(directory):
    """A job that a slot was given, about which the startd says that it takes it."""
    run(hooked(directory), directory)
    ad = (directory / "stdout").read_text()
    (directory / "stdout").unlink()
    (directory / "stdin").write_text(f"{ad}------\n{SLOT}")
    return hook(directory, "reply-fetch", "accept")


def seen_accepted(directory):
    """Whether the startd has a job; there is no state but offered and accepted."""
    states = sorted(each.state for each in rows(directory))
    assert states[0] in (OFFERED, ACCEPTED), states
    assert len(documents(directory)) == len(states) == 4
    return states[0] == ACCEPTED


END = "JobPid = 3\nJobStartDate = {0}\nExitCode = 3\nExitBySignal = false\n"


def take(directory):
    """A slot fetches a job and takes it; standard input is then the ad of its end."""
    (directory / "stdin").write_text(SLOT)
    run(hook(directory, "fetch-work"), directory)
    ad = (directory / "stdout").read_text()
    (directory / "stdout").unlink()
    (directory / "stdin").write_text(f"{ad}------\n{SLOT}")
    run(hook(directory, "reply-fetch", "accept"), directory)
    given = re.search(r'SSSKey = "[0-9]+\.([0-9]+)', ad)[1]  # in milliseconds
    (directory / "stdin").write_text(ad + END.format(int(given) // 1000))


def told(program, *words):
    """What prepares a job that a slot took, of which a hook tells something."""

    def prepared(directory):
        put(directory)
        take(directory)
        return hook(directory, program, "--fold", "now", *words)

    return prepared


def folded(directory):
    """What tells that all jobs have ended, in reports that nobody has read."""
    put(directory)
    for _ in WAITING:
        take(directory)
        run(hook(directory, "job-exit", "--fold", "never", "exit"), directory)
    return hook(directory, "fold")


def in_a_store(prepare):
    """The same with jobs in a store."""

    def prepared(directory):
        (directory / "in a store").touch()
        return prepare(directory)

    return prepared


def seen_end(directory):
    """What the documents say but for times, which are those of the run."""
    found = documents(directory)
    assert len(found) == 4
    return tuple(
        (job.id, job.get("State"), job.get("ExitCode"), job.get("StartCount")) for job in found
    )


def of_jobs(found, old, new):
    """Whether each job is as it was or as it is to be."""
    return all(each in pair for each, *pair in zip(found, old, new, strict=True))


def rewritten(directory):
    words = features(directory, 1)
    run(words, directory)
    return features(directory, 22)


def steering(order):
    """What prepares a document of jobs that are submitted to pretended commands of Slurm."""

    def prepared(directory):
        os.environ["XDG_STATE_HOME"] = str(directory.parent / "state")
        slurm = Pretended(directory / "batch", "slurm", pwd.getpwuid(os.geteuid()).pw_name)
        os.environ["PATH"] = slurm.path
        inside = "".join(
            f"<Job><Id>j{number}</Id><Executable>/bin/true</Executable></Job>\n"
            for number in range(4)
        )
        (directory / "jobs.xml").write_text(f"<JobGroup><Id>g</Id>{inside}</JobGroup>")
        if order != "submit":
            words = ["submit", "--to", "slurm", *["--hold"] * (order == "release"), "jobs.xml"]
            run(words, directory)
        return [order, *["--to", "slurm"] * (order == "submit"), "jobs.xml"]

    return prepared


def seen_jobs(order, real, said):
    """Whether all is done; a job that the document tells of is so, and there are no others."""

    def seen(directory):
        with (directory / "batch/lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            jobs = json.loads((directory / "batch/jobs.json").read_text())
        (group,) = read(directory / "jobs.xml")
        told = [jobs[job.id]["state"] == real for job in group.jobs if job.get("State") == said]
        assert all(told), (order, jobs, directory)
        assert len(jobs) <= 4, (order, jobs)
        return len(told) == len(group.jobs) == len(jobs)

    return seen


PBS = (
    "01/01/2026 00:00:00;E;{0}.s;user=u start=1690000000 end=1690000100 "
    "resources_used.cput=00:00:50 resources_used.walltime=00:01:40\n"
)
AD = """Owner = "u"
ClusterId = {0}
ProcId = 0
JobStatus = 4
QDate = 1690000000
CompletionDate = 1690000100
*** Offset = 0 ClusterId = {0} ProcId = 0 Owner = "u" CompletionDate = 1690000100
"""
LIVE = '{{"jobs": [\n  {{\n    "job_id": {0},\n    "name": "a"\n  }}\n]}}\n'


def growing(format_, form, text):
    """What prepares a log whose records are appended to an output, and remembered; often."""

    def work():
        parts.SIZE, convert.COMMIT = 1 << 14, 1
        words = ["--from", format_, "--to", form, "--state", "state", "-o", "out", "log"]
        return called(["convert", *words])

    def prepared(directory):
        (directory / "log").write_text("".join(map(text.format, range(COUNT))))
        return work

    return prepared


def seen_growing(directory):
    """What the state says of the output; nothing of it without one."""
    state = directory / "state"
    size = json.loads(state.read_text())["output"][1] if state.exists() else 0
    return (directory / "out").read_bytes()[:size] if size else b""


def of_records(found, old, new):
    """Whether the first records are there, whole."""
    return found == old or (new.startswith(found) and found.endswith(b"\n"))


def ended(ids, seconds):
    """What sacct prints of jobs that ran for so long."""
    begun, over = "2026-11-20T12:00:00", f"2026-11-20T12:00:{seconds}"
    lines = (f"{number}|c|COMPLETED|{begun}|{begun}|{over}|{seconds}|4\n" for number in ids)
    return "JobID|Cluster|State|Submit|Start|End|ElapsedRaw|NCPUS\n" + "".join(lines)


def ingested(directory):
    """What puts records into a ledger, in many commits; half of them replace others."""
    half = COUNT // 2
    (directory / "before").write_text(ended(range(half), 10))
    (directory / "sacct").write_text(ended(range(half // 2, half + half // 2), 20))
    run(["ledger", "ingest", "usage", "before"], directory)

    def work():
        ledger._ARRIVES = COUNT // 10
        called(["ledger", "ingest", "usage", "sacct"])

    return work


def ingested_by_two(directory):
    """What puts records into a ledger while another writer, who is not killed, does, too."""
    alone = ingested(directory)
    (directory / "others").write_text(ended(range(COUNT // 2, COUNT), 20))

    def work():
        lock = os.open("writes", os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX)  # until both have ended
        other = os.fork()
        if not other:
            ledger._ARRIVES = COUNT // 10
            os._exit(called(["ledger", "ingest", "usage", "others"]))
        alone()
        assert not os.waitpid(other, 0)[1]

    return work


def seen_ledger_of_two(directory):
    """What is seen of a ledger when the other writer has ended."""
    with (directory / "writes").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return seen_ledger(directory)


def seen_ledger(directory):
    """How long each run was; no file is damaged, and a report counts each run once."""
    found = ledger.opened(directory / "usage")
    assert not upkeep.check(found).faults
    with found.connected() as connection:
        rows = connection.execute("SELECT id, wall_seconds FROM usage ORDER BY ALL").fetchall()
    assert len({id_ for id_, _ in rows}) == len(rows) == found.manifest().rows
    return tuple(rows)


def of_runs(found, old, new):
    """Whether each run is as it was or as it is to be, and none is missing."""
    return {*found} <= {*old, *new} and {id_ for id_, _ in old} <= {id_ for id_, _ in found}


USED = (
    "<Job><JobId>{}</JobId><UserId>ann</UserId>{}<Processors>4</Processors>"
    "<WallDuration>{}</WallDuration></Job>"
)


JOBS = 5  # of a gateway
CLIENTS = 4  # that ask it at the same time, each about such jobs of its own


def asked_of_a_gateway(count=60, client=""):
    """Requests of a client about the charges of some jobs, always the same."""
    random = Random(f"charges {client}" if client else 1)
    for number in range(count):
        name = f"{client}{random.randrange(JOBS)}"
        action = random.choice(("Quote", "Reserve", "Charge", "Charge", "Refund", "Modify"))
        state = "<State>Completed</State>" * (action == "Charge")
        more = {"data": [USED.format(name, state, random.randrange(1, 100))]}
        if action == "Refund":
            more = {"options": {"JobId": name, "Amount": "1"}}
        elif action == "Modify":
            more = {"sets": [("Charge", str(number))], "wheres": [("Id", "EQ", name)]}
        elif action == "Quote":
            more["options"] = {"Guarantee": "True"}
        elif action == "Reserve":
            more["options"] = {"Replace": str(random.random() < 0.5)}
        yield action, {**more, "id": f"{client}{number}"}


def charged(directory):
    """What asks a gateway for all of it, in order; what was answered is not asked again."""
    opened(directory, create=True).close()
    address = address_of(directory)

    def work():
        service = JobService(
            address, accounting=Accounting(ChargeRates({"Processors": Fraction(1)}))
        )
        with open("said", "a+") as said:
            said.seek(0)
            done = len(said.readlines())
            for action, more in [*asked_of_a_gateway()][done:]:
                print(action, service.code(action, **more), file=said, flush=True)

    return work


SERVED = """
listen = ["127.0.0.1:{}"]
[security]
key = "key"
role = "admin"
[store]
address = "{}"
[rates.Resource]
Processors = 1
"""


def served(directory):
    """A gateway as sites run it, and clients that ask it at the same time, by its port.

    A client that was not answered asks again, also after it was killed, by the same id.
    """
    opened(directory, create=True).close()
    address = address_of(directory)
    (directory / "key").write_text("the key of clients that are killed")
    (directory / "key").chmod(0o600)

    def asking(port, name):
        key = Key(Path("key").read_bytes())
        way = Legacy("127.0.0.1", port)
        client = Client([way], key, tries=1000, sleep=lambda _: time.sleep(0.02))
        [*client.call(asked("Query", gets=["Id"]))]  # whose answer tells that it serves
        with open(f"said.{name}", "a+") as said:
            said.seek(0)
            done = len(said.readlines())
            for action, more in [*asked_of_a_gateway(15, f"{name}.")][done:]:
                [answer] = client.call(asked(action, **more))
                print(action, answer.status.code, file=said, flush=True)

    def work():
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        Path("gateway.toml").write_text(SERVED.format(port, address))
        with ThreadPoolExecutor(CLIENTS) as pool:
            asked_by = [pool.submit(asking, port, name) for name in range(CLIENTS)]
            pool.submit(lambda: (wait(asked_by), os.kill(os.getpid(), signal.SIGTERM)))
            status = called(["serve", "--config", "gateway.toml"])
        assert not status, status
        for each in asked_by:
            each.result()

    return work


def client_of(entry):
    """Which of those who ask at the same time an entry is of, by the Id of its job."""
    return entry[2].rpartition(".")[0]


def seen_entries(kept):
    """The entries of the ledger, those of each client in their order."""
    entries = (
        (str(each.kind), str(each.amount), each.job, each.duration, each.places)
        for each in kept.ledger.entries(tuple(EntryKind))
    )
    return tuple(sorted(entries, key=client_of))


def seen_charges(directory):
    """The entries of the ledger; jobs, totals and what is forwarded say the same as they do.

    What was answered is among them.
    """
    with opened(directory, create=True) as kept:
        assert not [*kept.check()]
        entries = seen_entries(kept)
        charges, over = {}, set()
        for each in kept.documents():
            charge = re.search(rb"<Charge>(.*?)</Charge>", each.document)
            charges[each.identity.id] = Fraction(charge[1].decode() if charge else 0)
            if b"<State>Completed</State>" in each.document:
                over.add(each.identity.id)
            balance = kept.ledger.balance(each.number, each.identity.id)
            assert balance == charges[each.identity.id], each.document
    service = JobService(address_of(directory))
    totals, sent = totals_of(service), forwarded(service, directory)
    assert totals == charges
    assert sent == {name: charges[name] for name in over}
    for said in directory.glob("said*"):
        answered = said.read_text().splitlines()
        of_it = [each[0] for each in entries if client_of(each) == said.suffix.removeprefix(".")]
        for action in ("Quote", "Reserve", "Charge"):
            assert answered.count(f"{action} 000") <= of_it.count(action), (said, answered, of_it)
    return entries


class Book:
    """A Gold that survives who asks it: each Charge is a line of a file before it is answered.

    It kills who asks at a stop: of each Charge there are two, before its line and behind it.
    """

    dialect, tries, transports = GOLD, 1, ()

    def __init__(self, stop=None):
        self.stop, self.passed = stop, 0

    def call(self, request):
        [row] = request.data.items
        self._pass()
        with open("gold", "a") as book:
            book.write(json.dumps(dict(row.fields)) + "\n")
        self._pass()
        return [Response(Status.of("000"))]

    def rows(self, request):
        [wanted] = [where.value for where in request.wheres if where.name == "JobId"]
        for told in booked(Path()):
            if told["JobId"] == wanted:
                yield Row("Job", tuple((get.name, told.get(get.name, "")) for get in request.gets))

    def _pass(self):
        if self.passed == self.stop:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1


def booked(directory):
    book = directory / "gold"
    return [json.loads(line) for line in book.read_text().splitlines()] if book.exists() else []


def forwarding_to(service, queue, lines, stop):
    """What forwards jobs; a minute and more passes with each round, also of former processes."""
    plan = ForwardingPlan(Book(stop), queue, charge=True)
    return Forwarding(plan, service.service.stores, clock=lambda: time.time() + 100 * len(lines))


def charged_and_forwarded(directory):
    """The same requests, each with a round of what forwards them, and rounds until all is sent."""
    opened(directory, create=True).close()
    address = address_of(directory)

    def work(stop=None):
        service = JobService(
            address, accounting=Accounting(ChargeRates({"Processors": Fraction(1)}))
        )
        with open("said", "a+") as said, open("rounds", "a+") as rounds:
            said.seek(0)
            rounds.seek(0)
            done, lines = len(said.readlines()), rounds.readlines()
            forwarding = forwarding_to(service, Path("forward.db").absolute(), lines, stop)
            for action, more in [*[*asked_of_a_gateway()][done:], *[("", None)] * 5]:
                if action:
                    print(action, service.code(action, **more), file=said, flush=True)
                print("round", file=rounds, flush=True)
                lines.append("")
                forwarding._round()
            (Path("end")).touch()
            forwarding.stop()

    return work


def seen_forwarded(directory):
    """The entries of the ledger; nobody was charged twice by the other server.

    In the end it has what the ledger has, or people are told that it has not.
    """
    sent = [each["JobId"] for each in booked(directory)]
    assert len(sent) == len({*sent}), sent
    service = JobService(address_of(directory))
    with opened(directory, create=True) as kept:
        entries = seen_entries(kept)
        owed = {
            each.identity.id: kept.ledger.balance(each.number, each.identity.id)
            for each in kept.documents()
            if b"<State>Completed</State>" in each.document
        }
    if (directory / "end").exists():
        queue = Outbox(directory / "forward.db")
        states = {dict(each.fields)["JobId"]: each.state for each in queue.left()}
        queue.close()
        assert {*states.values()} <= {ParcelState.CHANGED}, states
        there = {each["JobId"]: Fraction(each["Charge"]) for each in booked(directory)}
        assert there.keys() == owed.keys(), (there, owed)
        assert all(there[name] == owed[name] for name in owed.keys() - states.keys()), (there, owed)
    service.service.stores.close()
    return entries


def totals_of(service):
    """The Charge of each job, as a total of a gateway; all of them are the sum."""
    rows = service.ask("Query", gets=[("Id", "GroupBy"), ("Charge", "Sum")])
    found = {row["Id"]: Fraction(row["Charge"] or 0) for row in rows}
    [whole] = service.ask("Query", gets=[("Charge", "Sum")])
    assert sum(found.values()) == Fraction(whole["Charge"] or 0)
    return found


def forwarded(service, directory):
    """The Charge of each job that a gateway would send on."""
    plan = ForwardingPlan(Client([], None, GOLD), directory.parent / "forward.db", charge=True)
    forwarding = Forwarding(plan, service.service.stores, clock=lambda: 0.0)
    try:
        forwarding.look()
        waiting = forwarding.outbox.due(0.0)
        sent = [dict(parcel.fields) for parcel in waiting]
    finally:
        forwarding.stop()
        plan.queue.unlink()
        service.service.stores.close()
    return {each["JobId"]: Fraction(each["Charge"]) for each in sent}


def of_entries(found, old, new):
    """Whether the first entries of each client are there, whole."""
    first = Counter(map(client_of, found))
    return found == tuple(
        each
        for client, entries in groupby(new, client_of)
        for each in islice(entries, first[client])
    )


QUEUE = frozenset({"forward.db-wal", "forward.db-shm", "forward.db.lock"})
SQLITE = frozenset({"jobs.db-wal", "jobs.db-shm"})
CASES = {
    "features": Case(rewritten, seen_features),
    "convert": Case(converted, seen_file("out.sss")),
    "log": Case(growing("pbs", "sss-lines", PBS), seen_growing, is_whole=of_records),
    "log of ads": Case(growing("condor", "jsonl", AD), seen_growing, is_whole=of_records),
    "log of JSON": Case(growing("slurm-json", "jsonl", LIVE), seen_growing, is_whole=of_records),
    "log to APEL": Case(growing("pbs", "apel", PBS), seen_growing, is_whole=of_records),
    "deliver": Case(delivered, seen_file("jobs.sss")),
    "import": Case(imported, seen_store, SQLITE),
    "import, PostgreSQL": Case(imported, seen_store, in_postgresql=True),
    "deliver, store": Case(delivered_to_a_store, seen_store, SQLITE, of_parts),
    "deliver, PostgreSQL": Case(
        delivered_to_a_store, seen_store, is_whole=of_parts, in_postgresql=True
    ),
    "ledger": Case(ingested, seen_ledger, is_whole=of_runs),
    "ledger of two": Case(
        ingested_by_two, seen_ledger_of_two, frozenset({"writes"}), is_whole=of_runs
    ),
    "charges": Case(charged, seen_charges, SQLITE, of_entries),
    "charges, PostgreSQL": Case(charged, seen_charges, is_whole=of_entries, in_postgresql=True),
    "gateway": Case(served, seen_charges, SQLITE, of_entries),
    "gateway, PostgreSQL": Case(served, seen_charges, is_whole=of_entries, in_postgresql=True),
    "forwarding": Case(
        charged_and_forwarded, seen_forwarded, SQLITE | QUEUE, of_entries, stops=2 * JOBS
    ),
    "forwarding, PostgreSQL": Case(
        charged_and_forwarded, seen_forwarded, QUEUE, of_entries, in_postgresql=True, stops=2 * JOBS
    ),
    "outbox": Case(filling, seen_outbox, frozenset({"outbox-wal", "outbox-shm", "outbox-journal"})),
    "hook that fetches": Case(hooked, seen_offers),
    "hook that fetches, store": Case(in_a_store(hooked), seen_offers, SQLITE),
    "hook that accepts": Case(accepted, seen_accepted),
    "hook that accepts, store": Case(in_a_store(accepted), seen_accepted, SQLITE),
    "hook of an update": Case(told("update-job-info"), seen_end),
    "hook of an end": Case(told("job-exit", "exit"), seen_end),
    "hook of an end, store": Case(in_a_store(told("job-exit", "exit")), seen_end, SQLITE),
    "hook of an eviction": Case(told("job-exit", "evict"), seen_end),
    "fold": Case(folded, seen_end, is_whole=of_jobs),
    "fold, store": Case(in_a_store(folded), seen_end, SQLITE, of_jobs),
    "submit": Case(steering("submit"), seen_jobs("submit", "idle", "Idle")),
    "hold": Case(steering("hold"), seen_jobs("hold", "hold", "Hold")),
    "release": Case(steering("release"), seen_jobs("release", "idle", "Idle")),
    "cancel": Case(steering("cancel"), seen_jobs("cancel", "over", "Cancelled")),
}


def run(work, directory, moment=None):
    """Whether a command ended before the moment, in seconds, at which it is killed, if it is.

    Its standard input and output are the files of that name, if there are any.
    """
    child = os.fork()
    if not child:
        status = 70
        try:
            os.chdir(directory)
            given = os.open("stdin" if os.path.exists("stdin") else os.devnull, os.O_RDONLY)
            printed = os.open("stdout", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for number, stream in enumerate((given, printed, os.open(os.devnull, os.O_WRONLY))):
                os.dup2(stream, number)
            status = called(work)
        finally:
            os._exit(status)
    pidfd = os.pidfd_open(child)
    try:
        if not select.select([pidfd], [], [], moment)[0]:
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(pidfd)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1, -signal.SIGKILL), (work, status)
    return status >= 0


def called(work):
    """The exit code of a function, or of the command with some words."""
    if callable(work):
        work()
        return 0
    sys.argv = ["sssjob", *work]
    try:
        program.main()
    except SystemExit as end:
        return end.code or 0
    finally:
        sys.stdout.flush()
    return 0


class Places:
    """Where cases work: a directory, and for some a database, each made anew from what was kept."""

    def __init__(self, stack):
        self._stack = stack
        self.scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.directory = self.scratch / "work"

    @cache  # noqa: B019 (there is one)
    def _server(self):
        return self._stack.enter_context(postgresql.server())

    def empty(self, case):
        """A directory with nothing but the address of an empty database, if it needs one."""
        for each in (self.directory, self.scratch / "kept"):
            shutil.rmtree(each, ignore_errors=True)
        self.directory.mkdir()
        if case.in_postgresql:
            self._asked("DROP DATABASE IF EXISTS kept WITH (FORCE)")
            self._database("template0")
            address = postgresql.address(self._server(), "work")
            (self.directory / "address").write_text(address)

    def keep(self, case):
        """Keep what is there, to begin with it again and again."""
        shutil.copytree(self.directory, self.scratch / "kept")
        if case.in_postgresql:
            self._asked("CREATE DATABASE kept TEMPLATE work")

    def anew(self, case):
        """Begin again with what was kept."""
        shutil.rmtree(self.directory)
        shutil.copytree(self.scratch / "kept", self.directory)
        if case.in_postgresql:
            self._database("kept")

    def _database(self, template):
        self._asked("DROP DATABASE IF EXISTS work WITH (FORCE)")
        self._asked(f"CREATE DATABASE work TEMPLATE {template}")

    def _asked(self, statement):
        import psycopg

        with psycopg.connect(postgresql.address(self._server()), autocommit=True) as connection:
            connection.execute(statement)


def tried(name, case, places, kills, random):
    """Kill a command so many times, and say what came of it."""
    directory = places.directory
    places.empty(case)
    work = case.prepare(directory)
    old, names = case.seen(directory), {*os.listdir(directory)}
    places.keep(case)
    begun = time.monotonic()
    run(work, directory)
    takes = time.monotonic() - begun
    new = case.seen(directory)
    assert old != new, name
    names |= {*os.listdir(directory)}
    ended = mixed = stopped = 0
    for number in range(kills):
        places.anew(case)
        if case.stops and number % 2:
            assert not run(partial(work, random.randrange(case.stops)), directory), name
            stopped += 1
        else:
            ended += run(work, directory, random.uniform(0, 1.1 * takes))
        mixed += not case.is_whole(case.seen(directory), old, new)
        run(work, directory)
        assert (found := case.seen(directory)) == new, (name, found, new)
        left = {*os.listdir(directory)} - names - case.beside
        assert not left, (name, left)
    at_stops = f" ({stopped} of them at a stop)" if case.stops else ""
    said = f"{kills - ended} kills{at_stops}, {mixed} neither the old nor the new state"
    print(f"{name}: {said}", flush=True)
    assert not mixed, name


def main(kills=200, seed=None, *only):
    """Kill each command so many times, or only some of them."""
    number = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    print(f"seed {number}", flush=True)
    for module in pkgutil.walk_packages(sssjob.__path__, "sssjob."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    with ExitStack() as stack:
        places = Places(stack)
        for name, case in CASES.items():
            if only and name not in only:
                continue
            try:
                tried(name, case, places, kills, Random(f"{number} {name}"))
            except pytest.skip.Exception as why:
                print(f"{name}: left out: {why}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
