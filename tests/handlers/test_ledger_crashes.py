"""At whichever write a gateway is killed: job, ledger and what is forwarded agree, and nothing is
charged twice when the same request comes again."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from draws import examples
from hypothesis import given
from hypothesis import strategies as st

TESTS = Path(__file__).parents[1]

JOB = (
    "<Job><JobId>a</JobId><UserId>ann</UserId><ProjectId>p</ProjectId>"
    "<MachineName>m</MachineName><Processors>4</Processors><WallDuration>{}</WallDuration></Job>"
)
CREATED = "Create", {"data": ["<Job><Id>a</Id><User>ann</User><State>Idle</State></Job>"]}
COMPLETED = "Modify", {"sets": [("State", "Completed")], "wheres": [("Id", "EQ", "a")]}


def about(action, seconds, **options):
    return action, {"data": [JOB.format(seconds)], "options": options}


def refund(amount):
    return "Refund", {"options": {"JobId": "a", "Amount": str(amount)}}


def written(charge):
    return "Modify", {"sets": [("Charge", str(charge))], "wheres": [("Id", "EQ", "a")]}


def marked(steps, by="id"):
    """Each with what tells it from its copies: an id, or the digest that was signed."""
    return [
        (
            action,
            {**options, (by if action in ("Charge", "Reserve", "Refund") else "id"): f"{place}"},
        )
        for place, (action, options) in enumerate(steps)
    ]


# Each step is done by a forked process that is killed at its first write, then by one that is
# killed at its second, and so on, until one comes to its end. After each of them the books are
# read by nobody who was killed.
PROGRAM = """
import json, os, signal, sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from fractions import Fraction
from job_service import JobService
from sssjob import store
from sssjob.client import GOLD
from sssjob.errors import Refused
from sssjob.gateway.forwarding import Forwarding, ForwardingPlan
from sssjob.gateway.outbox import Outbox
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.rmap.message import Response, Row, Status
from sssjob.store.ledger import EntryKind

address, folder = sys.argv[2], Path(sys.argv[3])
RATES = Accounting(ChargeRates({"Processors": Fraction(1)}))
STEPS = json.load(sys.stdin)
left = None


def tick():
    if left is not None and next(left, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)


def dying(engine):
    fetch, many, transaction = engine.fetch, engine.many, engine.transaction

    def fetched(statement, *values):
        if not statement.lstrip().startswith(("SELECT", "PRAGMA")):
            tick()
        return fetch(statement, *values)

    def written(*arguments):
        tick()
        return many(*arguments)

    @contextmanager
    def committed():
        with transaction():
            yield
            tick()  # before the COMMIT
        tick()  # and behind it

    engine.fetch, engine.many, engine.transaction = fetched, written, committed


class Gold:
    dialect, tries, transports = GOLD, 1, ()

    def call(self, request):
        tick()
        [row] = request.data.items
        with (folder / "gold").open("a") as told:
            told.write(json.dumps(dict(row.fields)) + "\\n")
        tick()  # it has charged, and nobody hears of it
        return [Response(Status.of("000"))]

    def rows(self, request):
        tick()
        wanted = [where.value for where in request.wheres if where.name == "JobId"]
        for told in charged():
            if [told["JobId"]] == wanted:
                yield Row("Job", tuple((get.name, told.get(get.name, "")) for get in request.gets))


def charged():
    file = folder / "gold"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def jobs():
    return JobService(address, accounting=RATES)


def state():
    with store.open(address, read_only=True) as kept:
        return {
            "documents": [each.document.decode() for each in kept.documents()],
            "ledger": [[each.kind, str(each.amount), each.serial, each.ended, each.duration]
                       for each in kept.ledger.entries(tuple(EntryKind))],
            "quotes": [str(kept.ledger.quote(1))],
            "balance": str(sum(kept.ledger.balance(each.number, "a") for each in kept.documents())),
        }


def do(action, options):
    service = jobs()
    with service.service.stores.use() as kept:
        dying(kept.engine)
        try:
            service.answer(action, **options)
        except Refused:  # such as a Refund of more than was charged
            pass


def forward(action, options):
    moved = Outbox._do
    Outbox._do = lambda *arguments: tick() or moved(*arguments)
    plan = ForwardingPlan(Gold(), folder / "forward.db", charge=True)
    stores = jobs().service.stores
    each = Forwarding(plan, stores, clock=lambda: options["now"])
    with stores.use() as kept:  # where it is counted how often something was sent
        dying(kept.engine)
    each.look()
    each.send()


store.open(address, create=True).close()
plan = ForwardingPlan(Gold(), folder / "forward.db")
Forwarding(plan, jobs().service.stores, clock=lambda: 0.0).stop()
now = 10.0**10
for action, options in [*STEPS, ("forward", {})]:
    states, kill, done = [state()], 0, False
    while not done:
        kill += 1
        now += 7200
        pid = os.fork()
        if not pid:
            left = iter(range(kill))
            (forward if action == "forward" else do)(action, {**options, "now": now}
                                                     if action == "forward" else options)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        done = status == 0
        assert done or os.WIFSIGNALED(status), status
        if action == "forward":  # whoever was killed in between leaves the rest to the next one
            outbox = Outbox(folder / "forward.db")
            done = done and {*outbox.counts()} in ({"sent"}, {"changed"})
            outbox.close()
            assert kill < 100
        states.append(state())
    outbox = Outbox(folder / "forward.db")
    print(json.dumps({"action": action, "kills": kill - 1, "states": states, "gold": charged(),
                      "outbox": {str(key): count for key, count in outbox.counts().items()}}),
          flush=True)
    outbox.close()
"""


def books(steps, address, folder):
    """What stood in the books before and after each step, and after each kill in it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, TESTS, address, folder], input=json.dumps(steps),
        stdout=subprocess.PIPE, check=True, text=True,
    )  # fmt: skip
    told = [json.loads(line) for line in done.stdout.splitlines()]
    for step in told:
        # A request is done or it is not, and it is done once.
        before, after = step["states"][0], step["states"][-1]
        assert all(each in (before, after) for each in step["states"]), step["action"]
        turned = [each == after for each in step["states"]]
        assert turned == sorted(turned)
        for each in step["states"]:
            [charge] = [*_charges(each["documents"]), "0"][:1]
            assert each["balance"] == charge
    assert len(told[-1]["gold"]) == 1  # however often it was killed
    return told


def test_all_books_agree_wherever_a_gateway_is_killed(address, tmp_path):
    first = [CREATED, about("Quote", 3600, Guarantee="True")]
    peers = [about("Reserve", 3600), about("Reserve", 3000, Replace="True"), about("Charge", 60)]
    more = [about("Charge", 10), refund(30), written(200), COMPLETED]
    steps = books([*marked(first), *marked(peers, "mark"), *marked([*first, *more])[2:]],
                  address, tmp_path)  # fmt: skip
    assert all(step["kills"] >= 4 for step in steps)
    assert [entry[:2] for entry in steps[-1]["states"][-1]["ledger"]] == [
        ["Quote", "14400"], ["Reserve", "14400"], ["Reserve", "12000"], ["Charge", "240"],
        ["Charge", "40"], ["Refund", "30"], ["Refund", "50"],
    ]  # fmt: skip
    [told] = steps[-1]["gold"]
    assert (told["Charge"], told["WallDuration"], told["Processors"]) == ("200", "10", "4")
    assert steps[-1]["outbox"] == {"sent": 1}


SECONDS = st.integers(1, 100)
STEP = st.one_of(
    st.builds(about, st.just("Quote"), SECONDS, Guarantee=st.sampled_from(["True", "False"])),
    st.builds(about, st.just("Reserve"), SECONDS, Replace=st.sampled_from(["True", "False"])),
    st.builds(about, st.just("Charge"), SECONDS),
    st.builds(refund, SECONDS),
    st.builds(written, SECONDS),
)


@examples(3)
@given(
    st.lists(STEP, max_size=2), SECONDS, st.lists(STEP, max_size=3),
    st.lists(STEP, max_size=2), SECONDS, st.sampled_from(["id", "mark"]),
)  # fmt: skip
def test_all_books_agree_whatever_was_asked_before_a_kill(
    before, seconds, behind, late, again, by
):  # fmt: skip
    """What comes after the job was forwarded stands in the books here, and is told to be so."""
    charges = [about("Charge", seconds)]
    first = [CREATED, *before, *charges, *behind, COMPLETED]
    late = [about("Charge", again), *late]
    with tempfile.TemporaryDirectory() as folder:
        steps = books(marked([*first, ("forward", {}), *late], by), f"{folder}/jobs.db", folder)
    kinds = {"Charge": 1, "Refund": -1}
    sent = steps[len(first)]
    assert sent["action"] == "forward"
    ledger = sent["states"][-1]["ledger"]
    [told] = sent["gold"]
    assert steps[-1]["gold"] == [told]
    last = steps[-1]["states"][-1]
    assert len(last["ledger"]) > len(ledger)
    charged = [options["data"] for action, options in (*first, *late) if action == "Charge"]
    is_so = last["balance"] == told["Charge"] and charged[-1] == [JOB.format(told["WallDuration"])]
    assert steps[-1]["outbox"] == {"sent" if is_so else "changed": 1}
    assert int(told["Charge"]) == sum(
        kinds.get(kind, 0) * int(amount) for kind, amount, *_ in ledger
    )
    used = [options["data"] for action, options in (*charges, *behind) if action == "Charge"]
    assert [JOB.format(told["WallDuration"])] == used[-1]


def _charges(documents):
    return [each.partition("<Charge>")[2].partition("<")[0] for each in documents
            if "<Charge>" in each]  # fmt: skip
