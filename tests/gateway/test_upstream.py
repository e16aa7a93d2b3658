"""A gateway in front of another server: what it does not keep is asked there, in its own name."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
from gateways import RING, exchange, gateway
from gold import documents, recording, replaying
from job_service import ROLES
from servers import closed_port
from waiting import HANG, until

from sssjob import store
from sssjob.client import GOLD, Client, Legacy
from sssjob.errors import NoReply, Refused, UnknownOutcome
from sssjob.gateway.actions import Actions
from sssjob.gateway.answer_memory import AnswerRoom
from sssjob.gateway.shadow import ServerAnswer, Shadow, answered, differences
from sssjob.gateway.upstream import Behind, CircuitBreaker
from sssjob.handlers import changes
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.handlers.service import Service, ServiceSettings
from sssjob.handlers.stores import Stores
from sssjob.rmap.envelope import opened
from sssjob.rmap.keys import Key, Ring
from sssjob.rmap.message import Data, DataDocument, Get, Object, Option, Request, Row, Set, Where
from sssjob.rmap.reading import read_response
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest

OTHER = b"the key of the server behind"
JOB = (("JobId", "a"), ("UserId", "ann"), ("Processors", "4"), ("WallDuration", "60"))


class Gold:
    """What stands behind: it keeps what it was asked, and answers or refuses."""

    def __init__(self, answer=None):
        self.calls, self.answer = [], answer or (lambda call: HandlerAnswer())

    def __call__(self, call):
        self.calls.append(call)
        return self.answer(call)


class Front:
    """A gateway's actions over a store, with a server behind, and no socket of its own."""

    def __init__(self, service, port, **settings):
        to = Legacy("127.0.0.1", port, timeout=HANG) if isinstance(port, int) else port
        client = Client([to], Key(OTHER), GOLD, tries=1)
        self.behind = Behind(client, **settings)
        self.shadow = Shadow(self.behind) if self.behind.shadow else None
        own = service.actions | self.behind.over(service)
        self.actions = Actions(
            own, service.is_quick, service.is_slow, self.behind, self.shadow,
            passing=self.behind.passing(service),
        )  # fmt: skip

    def ask(self, action, object="Job", *, actor="root", proven=True, mark="", now=1000.0, **parts):
        request = Request(action, actor, tuple(map(Object, object.split())), **parts)
        answer = self.actions(ReceivedRequest(request, actor, "10.0.0.7", proven, now, mark))
        return replace(answer, rows=tuple(answer.rows))

    def code(self, *arguments, **options):
        with pytest.raises(Refused) as error:
            self.ask(*arguments, **options)
        return error.value.code


@pytest.fixture
def service(tmp_path):
    address = str(tmp_path / "jobs.db")
    store.open(address, create=True).close()
    rates = ChargeRates({"Processors": Fraction(1)})
    made = Service(Stores(address), ServiceSettings(ROLES, Accounting(rates)))
    yield made
    made.stores.close()


def running(gold):
    return gateway(gold, ring=Ring(Key(OTHER)))


def front(service, other, **settings):
    return Front(service, other.address()[1], **settings)


def said(stream):
    return read_response(opened(documents(stream)[-1]).body)


def test_a_recorded_request_about_users_is_answered_as_the_real_gold_answered_it(service):
    recorded = recording("raw-ok")
    with gateway(replaying, ring=Ring(Key(OTHER))) as other:
        made = front(service, other)
        with gateway(made.actions, ring=RING) as first:
            ours, golds = said(exchange(first, recorded.sent)), said(recorded.answered)
    assert (ours.status, ours.count, ours.rows) == (golds.status, golds.count, golds.rows)
    assert golds.rows


def test_without_a_server_behind_it_is_740_as_before(service):
    actions = Actions(service.actions)
    with pytest.raises(Refused) as error:
        actions(ReceivedRequest(Request("Query", "root", (Object("User"),)), "root"))
    assert error.value.code == "740"


def test_an_actor_is_called_what_it_is_called_there_and_signed_for_anew(service):
    gold = Gold(lambda call: HandlerAnswer([Row("Account", (("Balance", "7"),))], count=7))
    with running(gold) as other:
        made = front(service, other, actors={"ann": "amy"})
        answer = made.ask("Balance", "Account", actor="ann", options=(Option("Id", "1"),))
        made.ask("Query", "User ProjectUser", actor="bob")
    assert (answer.count, answer.rows) == (7, (Row("Account", (("Balance", "7"),)),))
    assert [call.actor for call in gold.calls] == ["amy", "bob"]
    assert [each.name for each in gold.calls[1].request.objects] == ["User", "ProjectUser"]


def test_who_is_not_proven_is_not_passed_on_and_passwords_are_nobodys(service):
    gold = Gold()
    with running(gold) as other:
        made = front(service, other)
        assert made.code("Query", "User", proven=False) == "444"
        assert made.code("Query", "Password") == "740"
        assert made.code("Query", "User Password") == "740"
        assert made.code("Query", "password") == "740"
        assert made.code("Query", "User Job") == "740"  # one of them is kept here
        assert made.code("Query", "User", wheres=(Where("Name", "o'neil"),)) == "740"
    assert gold.calls == []


@pytest.mark.parametrize(
    "parts",
    [
        {"wheres": (Where("Name", "o'neil"),)},
        {"wheres": (Where("Name = 'x' OR Name", "a"),)},
        {"wheres": (Where("Name", "Name", subject="g_password p, User"),)},
        {"gets": (Get("Name", object="User; --"),)},
        {"gets": (Get("Name", alias="a, password"),)},
        {"options": (Option("Limit", "1' --"),)},
        {"action": "Modify", "sets": (Set("CommonName", "x', Password='y"),)},
        {"action": "Create", "data": Data((Row("User", (("Name", "o'neil"),)),))},
        {"objects": (Object("User", join="CROSS JOIN g_password"), Object("Project"))},
        {"objects": (Object("User, g_password"),)},
        {"options": (Option("Limit", "1; drop table x"),)},
        {"options": (Option("Offset", "-1"),)},
        {"options": (Option("Limit or 1", "1"),)},
        {"actor": "o'ann"},
        {"action": "Qu'ery"},
        {"wheres": (Where("Name", "a\\"), Where("CommonName", " or 1=1 --"))},
        {"action": "Create", "data": Data((DataDocument(b"<User a='x'><Name>y</Name></User>"),))},
        {"objects": (Object("password"),)},
        {"gets": (Get("Password", object="Password"),)},
        {"gets": (Get("PASSWORD"),)},
        {"wheres": (Where("Name", "x", subject="Password"),)},
        {
            "objects": (Object("Job"),),
            "action": "Reserve",
            "data": Data((Row("Job", (("UserId", "o'neil"),)),)),
        },
        {
            "objects": (Object("Job"),),
            "action": "Reserve",
            "data": Data((DataDocument(b"<Job><Id>1</Id><User>o'neil</User><Requested/></Job>"),)),
        },
        {"objects": (Object("User", alias="u, g_password p"),)},
        {"options": (Option("Limit", "1", op="x y"),)},
        {"wheres": (Where("Name", "a\0b"),)},
        {"gets": (Get("Name", op="Sum(x)"),)},
        {"data": Data((Row("User", ()),), name="a b")},
        {"action": "Query it"},
    ],
)
def test_what_gold_would_put_into_its_sql_is_not_passed_on(parts):
    gold = Gold()
    with running(gold) as other:
        client = Client([Legacy("127.0.0.1", other.address()[1])], Key(OTHER), GOLD, tries=1)
        parts = {"action": "Query", "actor": "ann", "objects": (Object("User"),)} | parts
        with pytest.raises(Refused) as error:
            Behind(client).answer(ReceivedRequest(Request(**parts), parts["actor"]))
    assert error.value.code == "740"
    assert gold.calls == []


def test_a_server_that_did_not_answer_is_left_alone_for_a_while():
    now = [100.0]
    gold = Gold()
    with running(gold) as other:
        port = other.address()[1]
        dead = Client([Legacy("127.0.0.1", closed_port())], Key(OTHER), GOLD, tries=1)
        behind = Behind(dead, door=CircuitBreaker(lambda: now[0]))
        call = ReceivedRequest(Request("Query", "ann", (Object("User"),)), "ann")
        well = replace(behind, client=replace(dead, transports=[Legacy("127.0.0.1", port)]))
        for each in (behind, well):
            with pytest.raises(Refused) as error:
                each.answer(call)
            assert error.value.code == "730"
        assert gold.calls == []
        now[0] += 5
        assert well.answer(call).code == "000"


def test_a_refusal_behind_is_the_answer(service):
    def refuse(call):
        raise Refused("444", "amy may not do this")

    with running(Gold(refuse)) as other:
        assert front(service, other).code("Deposit", "Account") == "444"


def test_a_server_that_is_not_there_is_told_so(service):
    with running(Gold()) as other:
        made = front(service, other)
    for action in ("Query", "Deposit"):  # nothing reached anybody
        made.behind = made.actions.behind = replace(made.behind, door=CircuitBreaker())
        assert made.code(action, "Account") == "730"


@pytest.mark.parametrize("document", [b"no XML", b"<Envelope/>", b"<Envelope><Body/></Envelope>"])
def test_what_is_no_answer_is_not_taken_for_a_fault_of_who_asked(document):
    class Mad(Legacy):
        def exchange(self, message):
            yield document

    client = Client([Mad("127.0.0.1", 1)], Key(OTHER), GOLD, tries=1)
    for action, code in (("Deposit", "700"), ("Query", "730")):
        with pytest.raises(Refused) as error:
            Behind(client).answer(
                ReceivedRequest(Request(action, "root", (Object("Account"),)), "root")
            )
        assert error.value.code == code


def test_a_change_of_which_nobody_knows_whether_it_was_made_is_700(service):
    class Silent(Legacy):
        def exchange(self, message):
            from sssjob.errors import NoReply

            raise NoReply("246", "it hung up", asked=True)
            yield

    client = Client([Silent("127.0.0.1", 1)], Key(OTHER), GOLD, tries=1)
    for action, code in (("Deposit", "700"), ("Query", "730")):
        with pytest.raises(Refused) as error:
            Behind(client).answer(
                ReceivedRequest(Request(action, "root", (Object("Account"),)), "root")
            )
        assert error.value.code == code


def deposit(made, **parts):
    options = (Option("Id", "1"), Option("Amount", parts.pop("amount", "5")))
    return made.ask("Deposit", "Account", options=options, **parts)


def test_a_change_that_comes_twice_is_made_behind_once(service):
    gold = Gold(
        lambda call: HandlerAnswer([Row("Account", (("Id", "1"),))], message="done", count=5)
    )
    with running(gold) as other:
        made = front(service, other)
        first = deposit(made, id="dep")
        assert deposit(made, id="dep") == replace(first, again=True)
        assert (first.rows, first.message, first.count) == (
            (Row("Account", (("Id", "1"),)),), "done", 5,
        )  # fmt: skip
        assert len(gold.calls) == 1
        deposit(made, id="dep", amount="6")  # other words are another request
        deposit(made, id="dep", actor="ann")
        deposit(made, id="2")
        assert len(gold.calls) == 4
        for mark, now in (("a", 1000.0), ("a", 1119.0), ("b", 1119.0), ("a", 1200.0)):
            deposit(made, mark=mark, now=now)
        assert len(gold.calls) == 7  # the same bytes within two minutes are one request
        for _ in "12":
            deposit(made)
            made.ask("Query", "Account", id="3")
        assert len(gold.calls) == 11


def test_what_was_refused_behind_may_be_asked_again(service):
    answers = [Refused("784", "no funds"), HandlerAnswer()]

    def answer(call):
        if isinstance(said := answers.pop(0), Refused):
            raise said
        return said

    with running(Gold(answer)) as other:
        made = front(service, other)
        with pytest.raises(Refused, match="no funds"):
            deposit(made, id="dep")
        assert deposit(made, id="dep").code == "000"
        assert deposit(made, id="dep").again
    assert answers == []


class Lost:
    """It takes what it is sent, and something ends before the answer."""

    def __init__(self, error):
        self.error, self.sent = error, 0

    def exchange(self, message):
        self.sent += 1
        raise self.error
        yield


@pytest.mark.parametrize("known_by", [{"id": "1"}, {"mark": "a"}])
@pytest.mark.parametrize("error", [NoReply("246", "hung up", asked=True), KeyboardInterrupt()])
@pytest.mark.parametrize("action", ["Deposit", "Reserve"])
def test_a_change_of_which_nobody_knows_is_not_sent_again(
    service, known_by, error, action, monkeypatch
):
    monkeypatch.setattr(changes, "_AT_IT", 0.1)  # of one that was killed
    lost = Lost(error)
    made = Front(service, lost, funds=True)
    parts = {"data": Data((Row("Job", JOB),))} if action == "Reserve" else {}
    object = "Job" if action == "Reserve" else "Account"
    with pytest.raises((Refused, KeyboardInterrupt)):
        made.ask(action, object, **known_by, **parts)
    made.behind.door._until = float("-inf")  # five seconds later
    for _ in "12":
        with pytest.raises(UnknownOutcome) as told:
            made.ask(action, object, **known_by, **parts)
        assert told.value.code == "700"
    assert lost.sent == 1
    assert made.ask("Query").rows == ()


# --- funds ----------------------------------------------------------------------------------------


def broke(call):
    raise Refused("784", "Insufficient balance to reserve job")


@pytest.mark.parametrize("action", ["Reserve", "Quote"])
def test_what_the_server_behind_has_no_funds_for_is_not_done_here(service, action):
    with running(Gold(broke)) as other:
        made = front(service, other, funds=True)
        parts = {"data": Data((Row("Job", JOB),)), "options": (Option("Guarantee", "True"),)}
        assert made.code(action, **parts) == "784"
        assert made.ask("Query").rows == ()
        assert made.ask("Query", "Transaction").rows == ()
        assert front(service, other).ask(action, **parts).code == "000"  # where it is not asked


def test_funds_are_asked_for_once_and_only_for_who_may_reserve(service):
    gold = Gold()
    with running(gold) as other:
        made = front(service, other, funds=True)
        data = Data((Row("Job", JOB),))
        assert made.code("Reserve", data=data, actor="ann") == "444"
        assert gold.calls == []
        for _ in "12":
            assert made.ask("Reserve", data=data, id="7").count == 240
        assert len(gold.calls) == 1
        assert gold.calls[0].request.data.items[0].get("JobId") == "a"
        made.ask("Quote", data=data, options=(Option("Guarantee", "True"),))
        assert gold.calls[1].request.option("Guarantee") is None  # no promise is made there
        made.ask("Charge", data=data)
        assert len(gold.calls) == 2


@pytest.mark.parametrize("whole", [True, False])
def test_the_user_of_a_job_is_called_behind_what_he_is_called_there(service, whole):
    gold = Gold()
    with running(gold) as other:
        made = front(service, other, funds=True, actors={"ann": "amy", "root": "gold"})
        job = Row("Job", JOB)
        xml = b"<Job><JobId>a</JobId><UserId> ann </UserId><Requested><Processors>4</Processors>"
        xml += b"<WallDuration>60</WallDuration></Requested></Job>"
        made.ask("Reserve", data=Data((DataDocument(xml) if whole else job,)))
    [call] = gold.calls
    [told] = call.request.data.items
    user = told.get("UserId") if isinstance(told, Row) else told.xml.decode()
    assert call.actor == "gold"
    assert "amy" in user
    assert "ann" not in user


@pytest.mark.parametrize("action", ["Reserve", "Quote"])
def test_nothing_is_reserved_behind_that_is_refused_here(service, action):
    gold = Gold()
    with running(gold) as other:
        made = front(service, other, funds=True)
        gone = (("Id", "gone"), ("Duration", "60"))
        made.ask("Create", data=Data((Row("Job", gone),)))
        made.ask("Delete", wheres=(Where("Id", "gone"),))
        negative = (("JobId", "a"), ("Processors", "-2"), ("WallDuration", "60"))
        assert made.code(action, data=Data((Row("Job", negative),))) == "317"
        if action == "Reserve":
            assert (
                made.code(action, data=Data((Row("Job", (("JobId", "gone"), *JOB[2:])),))) == "740"
            )
        assert gold.calls == []
        assert made.ask("Query", "Reservation").rows == ()
        made.ask(action, data=Data((Row("Job", JOB),)))
        assert len(gold.calls) == 1


def test_funds_that_were_refused_are_asked_for_again(service):
    gold = Gold(broke)
    with running(gold) as other:
        made = front(service, other, funds=True)
        for known_by in ({"id": "1"}, {"mark": "a"}):
            for _ in "12":
                assert made.code("Reserve", data=Data((Row("Job", JOB),)), **known_by) == "784"
        assert len(gold.calls) == 4
        assert made.ask("Query").rows == ()


def test_funds_are_asked_for_what_the_job_is_known_to_ask_for(service):
    gold = Gold()
    with running(gold) as other:
        made = front(service, other, funds=True)
        asks = b"<Requested><Processors>8</Processors></Requested>"
        job = b"<Job><Id>a</Id><QualityOfService>q</QualityOfService>%s</Job>" % asks
        made.ask("Create", data=Data((DataDocument(job),)))
        bare = (("JobId", "a"), ("WallDuration", "60"))
        assert made.ask("Reserve", data=Data((Row("Job", bare),))).count == 480
        [row] = gold.calls[-1].request.data.items
        assert (row.get("Processors"), row.get("QualityOfService")) == ("8", "q")


def test_funds_are_those_of_the_user_of_the_job_whoever_says_it(service):
    gold = Gold()
    whose = (("User", "ann"), ("Project", "p"), ("Machine", "m"))
    with running(gold) as other:
        made = front(service, other, funds=True)
        made.ask("Create", data=Data((Row("Job", (("Id", "a"), *whose)),)))
        bare = (("JobId", "a"), ("WallDuration", "60"))
        documents = b"<Job><Id>a</Id><Requested><Duration>60</Duration></Requested></Job>"
        for sent in (Row("Job", bare), DataDocument(documents)):
            made.ask("Reserve", data=Data((sent,)))
            [row] = gold.calls[-1].request.data.items
            assert dict(row.fields) == {
                "JobId": "a", "UserId": "ann", "ProjectId": "p", "MachineName": "m",
                "WallDuration": "60",
            }  # fmt: skip
        made.ask("Reserve", data=Data((Row("Job", (*bare, ("UserId", "bob"))),)))
        assert gold.calls[-1].request.data.items[0].get("UserId") == "bob"


def test_the_server_behind_is_told_in_data_what_options_say_of_the_job(service):
    """Gold 2.0 does not know these options, and reads a clock as a number."""
    gold = Gold()
    with running(gold) as other:
        made = front(service, other, funds=True)
        made.ask("Quote", data=Data((Row("Job", JOB),)), options=(Option("Guarantee", "True"),))
        data = Data(
            (
                Row(
                    "Job",
                    (("JobId", "a"), ("UserId", "ann"), ("Processors", "4"), ("QuoteId", "1")),
                ),
            )
        )
        options = Option("WallDuration", "0:01:00"), Option("ItemizedCharges", "True")
        assert made.ask("Quote", data=data, options=options).count == 240
        asked = gold.calls[-1].request
        assert dict(asked.data.items[0].fields) == {
            "JobId": "a", "UserId": "ann", "Processors": "4", "WallDuration": "60",
        }  # fmt: skip
        assert [each.name for each in asked.options] == ["ItemizedCharges"]


ODD = [
    b"<WallDuration>0:10:00</WallDuration>",
    b"<WallDuration>60</WallDuration><Processors>4<!-- c --></Processors>",
    b"<WallDuration>60</WallDuration><Processors>4.0</Processors>",
    b'<WallDuration>60</WallDuration><Requested><Memory units="GB">3</Memory></Requested>',
    b"<WallDuration>60</WallDuration><StartTime>2030-01-01T00:00:00Z</StartTime>",
]


@pytest.mark.parametrize("said", ODD)
@pytest.mark.parametrize("action", ["Reserve", "Quote"])
def test_numbers_that_gold_would_read_as_others_are_not_passed_on(service, action, said):
    """To Gold a clock of ten minutes is 0 seconds, for which everybody has the funds."""
    gold = Gold()
    with running(gold) as other:
        made = front(service, other, funds=True)
        job = DataDocument(b"<Job><JobId>a</JobId>%s</Job>" % said)
        assert made.code(action, data=Data((job,))) == "740"
        assert gold.calls == []
        plain = b'<WallDuration>60</WallDuration><Memory units="MB">3</Memory>'
        made.ask(action, data=Data((DataDocument(b"<Job><JobId>a</JobId>%s</Job>" % plain),)))
        assert len(gold.calls) == 1


# --- the shadow -----------------------------------------------------------------------------------


def differs(log):
    """What is told where a shadow answers otherwise."""
    return [line for line in log if line["event"] == "shadow differs"]


def test_a_shadow_answers_from_ours_and_logs_what_the_other_one_says_otherwise(service, log):
    rows = {"Query": [Row("Job", (("JobId", "a"), ("Charge", "777")))]}

    def answer(call):
        if call.request.action == "Refund":
            raise Refused("740", "no such charge")
        if call.request.action == "Charge":
            return HandlerAnswer([Row("Charge", (("Amount", "240"), ("Job", "9")))], count=240)
        return HandlerAnswer(rows.get(call.request.action, ()))

    gold = Gold(answer)
    with running(gold) as other:
        made = front(service, other, shadow=True)
        made.shadow.start()
        made.ask("Charge", data=Data((Row("Job", JOB),)))
        answer = made.ask("Query", gets=(Get("Id"), Get("Charge")))
        assert answer.rows == (Row("Job", (("Id", "a"), ("Charge", "240"))),)
        made.ask("Refund", options=(Option("JobId", "a"),))
        assert made.code("Refund", options=(Option("JobId", "b"),)) == "740"
        made.ask("Query", "Transaction")
        made.shadow.stop()
    assert [call.request.action for call in gold.calls] == ["Charge", "Query", "Refund"]
    assert sorted(
        (each["action"], each["what"], each["ours"], each["theirs"]) for each in differs(log)
    ) == [
        ("Query", "rows", "Id=a, Charge=240", "Id=a, Charge=777"),
        ("Refund", "code", "000", "740"),
        ("Refund", "not sent", "740", "a change that ours refused"),
    ]


def test_a_shadow_hears_once_of_what_comes_twice_and_of_no_change_that_was_refused(service, log):
    gold = Gold()
    with running(gold) as other:
        made = front(service, other, shadow=True)
        made.shadow.start()
        for _ in "123":
            made.ask("Charge", data=Data((Row("Job", JOB),)), id="1")
        charge = Request("Charge", "root", (Object("Job"),), data=Data((Row("Job", JOB),)))
        for mark in ("a", "a", "b", "a", "b"):
            call = ReceivedRequest(charge, "root", "", True, 1000.0, mark)
            assert len([*made.actions(call).rows]) == 1
        assert made.code("Charge", data=Data((Row("Job", JOB),)), actor="ann") == "444"
        negative = (("JobId", "b"), ("Processors", "-5"), ("WallDuration", "60"))
        assert made.code("Charge", data=Data((Row("Job", negative),))) == "317"
        with ThreadPoolExecutor(4) as pool:  # copies at the same moment, too
            charges = [pool.submit(made.ask, "Charge", data=charge.data, id="2") for _ in "1234"]
        assert [each.result().count for each in charges] == [240] * 4
        made.ask("Query")
        made.ask("Query")
        made.shadow.stop()
    assert [call.request.action for call in gold.calls] == ["Charge"] * 4 + ["Query"] * 2


@pytest.mark.parametrize("is_refused", [False, True])
@pytest.mark.parametrize("mark", ["", "the same bytes"])
def test_copies_of_a_change_that_is_being_made_behind_wait_for_its_answer(
    service, mark, is_refused, monkeypatch
):
    """Those that come to another process as well: nothing but the store tells that it is made."""
    waiting = set()
    all_wait = threading.Event()

    def sleep(seconds):
        waiting.add(threading.get_ident())
        if len(waiting) == 3:
            all_wait.set()
        paused(seconds)

    def answer(call):
        assert all_wait.wait(HANG)
        if is_refused:
            raise Refused("740", "no such account")
        return HandlerAnswer((), count=10)

    def told(actions):
        try:
            return actions(call).count
        except Refused as error:
            return error.code, error.message

    paused = changes.time.sleep
    gold = Gold(answer)
    asked = Request("Deposit", "root", (Object("Account"),), options=(Option("Amount", "10"),),
                    id="" if mark else "1")  # fmt: skip
    call = ReceivedRequest(asked, "root", "", True, 1000.0, mark)
    with running(gold) as other, ThreadPoolExecutor(4) as pool:
        one = front(service, other)
        # Another process has but the store in common with this one.
        another = Service(Stores(service.stores.address), service.settings)
        two = front(another, other)
        first = pool.submit(told, one.actions)
        assert until(lambda: gold.calls)
        monkeypatch.setattr(changes.time, "sleep", lambda seconds: sleep(seconds))
        copies = [pool.submit(told, each.actions) for each in (one, two, two)]
        expected = ("740", "no such account") if is_refused else 10
        assert [each.result() for each in (first, *copies)] == [expected] * 4
        assert len(gold.calls) == 1
        monkeypatch.undo()
        gold.answer = lambda call: HandlerAnswer((), count=10)
        assert told(two.actions) == 10  # what was refused may be sent again
        assert len(gold.calls) == 1 + is_refused
        another.stores.close()


def test_a_copy_waits_for_no_longer_than_the_first_may_take(service, monkeypatch):
    """Who was to answer may have been killed."""
    monkeypatch.setattr(changes, "_AT_IT", 0.2)
    asked = Request("Deposit", "root", (Object("Account"),), id="1")
    call = ReceivedRequest(asked, "root", "", True, 1000.0, "")

    def killed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        changes.once_elsewhere(service.stores, call, 120, killed)
    for _ in "12":
        with pytest.raises(UnknownOutcome):
            changes.once_elsewhere(service.stores, call, 120, killed)


JOBS = "<Job><Id>1</Id>{}</Job>"


@pytest.mark.parametrize("ours, theirs, told", [
    ("<Queue>q</Queue>", "<Queue>q</Queue>", []),
    ("<Queue>q</Queue><Charge>9</Charge>", "<Charge>9</Charge><Queue>q</Queue>", []),
    ("<Queue>q</Queue><Charge>9</Charge>", "<Charge>8</Charge><Queue>p</Queue>",
     [("rows", "/Job/Charge=9; /Job/Queue=q", "/Job/Charge=8; /Job/Queue=p")]),
    ("<Queue>q</Queue>", "", [("rows", "/Job/Queue=q", "")]),
    ("<Queue>q</Queue><Requested><Memory>2</Memory></Requested>", (("Queue", "q"), ("Type", "x")),
     []),
    ("<Queue>q</Queue>", (("Queue", "p"), ("Charge", "7")),
     [("rows", "Id=1, Queue=q", "Id=1, Queue=p")]),
])  # fmt: skip
def test_whole_job_objects_are_compared_with_others_and_with_rows_as_far_as_both_say_it(
    ours, theirs, told
):
    asked = Request("Query", "root", (Object("Job"),))

    def said(text):
        is_row = isinstance(text, tuple)
        item = Row("Job", (("JobId", "1"), *text)) if is_row else document(text)
        return answered(asked, HandlerAnswer([item]), [item], 1)

    def document(text):
        return DataDocument(JOBS.format(text).encode())

    assert differences(said(ours), said(theirs)) == told


def test_a_shadow_hears_of_whole_job_objects_that_differ(service, log):
    with running(
        Gold(lambda call: HandlerAnswer([Row("Job", (("JobId", "a"), ("Queue", "p")))]))
    ) as other:
        made = front(service, other, shadow=True)
        made.shadow.start()
        made.ask("Create", data=Data((DataDocument(b"<Job><Id>a</Id><Queue>q</Queue></Job>"),)))
        made.ask("Query")
        made.shadow.stop()
    assert ("rows", "Id=a, Queue=q", "Id=a, Queue=p") in [
        (each["what"], each["ours"], each["theirs"]) for each in differs(log)
    ]


# --- the memory of its answers --------------------------------------------------------------------


def users(count):
    return HandlerAnswer([Row("User", (("Name", f"u{each}"),)) for each in range(count)])


def test_an_answer_that_takes_too_much_memory_is_refused_and_the_server_is_still_asked(service):
    gold = Gold(lambda call: users(4000 if call.request.wheres else 1))
    with running(gold) as other:
        made = front(service, other, room=AnswerRoom(2 << 20))
        many = (Where("Name", "x"),)
        with pytest.raises(Refused, match="takes more memory than the server may have") as refused:
            made.ask("Query", "User", wheres=many)
        assert refused.value.code == "242"
        assert len(made.ask("Query", "User").rows) == 1
        with pytest.raises(UnknownOutcome):
            made.ask("Modify", "User", wheres=many, sets=(Set("Name", "y"),))


def test_an_answer_has_its_room_until_it_is_gone_and_small_ones_always_have_some(service):
    gold = Gold(lambda call: users(3000 if call.request.wheres else 1))
    with running(gold) as other:
        made = front(service, other, room=AnswerRoom(9 << 20))
        request = Request("Query", "root", (Object("User"),), wheres=(Where("Name", "x"),))
        call = ReceivedRequest(request, "root", "", True, 1000.0)
        held = made.actions(call)
        assert made.code("Query", "User", wheres=request.wheres) == "730"
        assert len(made.ask("Query", "User").rows) == 1
        assert len([*held.rows]) == 3000
        del held
        assert len(made.ask("Query", "User", wheres=request.wheres).rows) == 3000


def test_an_answer_of_too_many_bytes_is_refused_and_the_server_is_still_asked(service):
    gold = Gold(lambda call: users(400 if call.request.wheres else 1))
    with running(gold) as other:
        port = other.address()[1]
        made = Front(service, Legacy("127.0.0.1", port, timeout=HANG, limit=4096))
        assert made.code("Query", "User", wheres=(Where("Name", "x"),)) == "242"
        assert len(made.ask("Query", "User").rows) == 1


def test_a_shadow_that_is_down_delays_nobody_and_is_told(service, log):
    with running(Gold()) as other:
        made = front(service, other, shadow=True)
    made.shadow.start()
    assert made.ask("Query").code == "000"
    made.shadow.stop()
    assert [(each["what"], each["theirs"]) for each in differs(log)] == [("code", "730")]


def test_rows_are_compared_whatever_their_order_and_not_where_they_are_too_many():
    one, other = (("Id", "a"),), (("Id", "b"),)
    assert (
        differences(ServerAnswer("000", 2, (one, other)), ServerAnswer("000", 2, (other, one)))
        == []
    )
    assert differences(
        ServerAnswer("000", 2, (one, one)), ServerAnswer("000", 2, (other, one))
    ) == [("rows", "Id=a", "Id=b")]
    assert differences(ServerAnswer("000", 2, None), ServerAnswer("000", 2, (other,))) == []
    assert differences(ServerAnswer("000", 2), ServerAnswer("146", 3)) == [
        ("code", "000", "146"),
    ]  # fmt: skip
    assert differences(ServerAnswer("000", 2), ServerAnswer("000", 3)) == [("count", "2", "3")]
