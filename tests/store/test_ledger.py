"""The ledger of a store: entries are added, sums are exact, and only what ended long ago goes."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import store
from sssjob.errors import OtherStore
from sssjob.store.ledger import Entry, EntryKind, Owner, shares
from sssjob.store.reach import Reach


@pytest.fixture
def kept(address):
    with store.open(address, create=True) as made:
        yield made


def add(kept, *entries, rates=None):
    with kept.change(by="maui", source="10.0.0.7", reason="test") as change:
        return [change.ledger.add(entry, rates) for entry in entries]


def kinds(kept):
    return [entry.kind for entry in kept.ledger.entries(tuple(EntryKind))]


def test_what_was_charged_is_added_up_exactly(kept):
    tenth = Fraction(1, 10)
    add(kept, *(Entry(EntryKind.CHARGE, tenth, 1, "a", 7) for _ in range(3)))
    add(kept, Entry(EntryKind.REFUND, tenth, 1, "a", 7), Entry(EntryKind.CHARGE, tenth, 1, "a", 8))
    assert kept.ledger.balance(7, "a") == Fraction(1, 5)
    assert kept.ledger.balance(9, "a") == 0
    huge = Fraction(10**30)
    add(kept, Entry(EntryKind.CHARGE, huge, 1, "b", 9), Entry(EntryKind.CHARGE, huge, 1, "b", 9))
    assert kept.ledger.balance(9, "b") == 2 * huge
    assert kept.ledger.kinds(7, "a") == {EntryKind.CHARGE, EntryKind.REFUND}


def test_an_entry_tells_who_made_it_and_numbers_go_up(kept):
    [entry] = add(
        kept, Entry(EntryKind.RESERVE, Fraction(5), 1, "a", 7, 1, "ann", "p", "m", until=9)
    )
    [found] = kept.ledger.entries([EntryKind.RESERVE], reach=Reach("ann"), job="a")
    assert (found.by, found.source, found.reason) == ("maui", "10.0.0.7", "test")
    assert (found.number, found.user, found.project, found.machine) == (
        entry.number,
        "ann",
        "p",
        "m",
    )
    assert list(kept.ledger.entries([EntryKind.RESERVE], reach=Reach("bob"))) == []
    assert list(kept.ledger.entries([EntryKind.QUOTE])) == []


def test_reservations_end_by_time_or_by_an_entry_that_says_so(kept):
    reserve = Entry(EntryKind.RESERVE, Fraction(5), 1, "a", 7, 1, until=100)
    add(kept, reserve)
    assert [each.serial for each in kept.ledger.reservations("a", 100)] == [1]
    assert kept.ledger.reservations("a", 101) == []
    add(kept, Entry(EntryKind.CHARGE, Fraction(1), 1, "b", 8, ends=True))
    assert len(kept.ledger.reservations("a", 100)) == 1
    add(kept, Entry(EntryKind.RESERVE, Fraction(5), 1, "a", 7, 2, until=100, ends=True))
    assert [each.serial for each in kept.ledger.reservations("a", 100)] == [2]
    assert [each.ended for each in kept.ledger.entries([EntryKind.RESERVE])] == [True, False]


def test_a_quote_keeps_its_rates_to_the_last_digit(kept):
    rates = {
        ("Resource", "Processors"): Fraction(1, 3),
        ("QualityOfService", "premium"): Fraction(2),
    }
    add(kept, Entry(EntryKind.QUOTE, Fraction(5), 1, serial=4, places=2, until=9), rates=rates)
    entry, found = kept.ledger.quote(4)
    assert (entry.places, found) == (2, rates)
    assert kept.ledger.quote(5) is None


def test_only_what_ended_before_a_time_is_forgotten_and_no_charge(kept):
    add(
        kept,
        Entry(EntryKind.QUOTE, None, 1, serial=1, until=50),
        rates={("Resource", "Disk"): Fraction(1)},
    )
    add(
        kept,
        Entry(EntryKind.RESERVE, Fraction(1), 1, "a", 7, 1, until=50),
        Entry(EntryKind.RESERVE, Fraction(1), 1, "a", 7, 2, until=51),
        Entry(EntryKind.CHARGE, Fraction(1), 1, "a", 7),
    )
    assert kept.prune(quotes=51, answers=0) == 2
    assert kinds(kept) == [EntryKind.RESERVE, EntryKind.CHARGE]
    assert kept.ledger.quote(1) is None
    assert kept.engine.fetch("SELECT * FROM quoted") == []
    assert kept.prune(quotes=10**6, answers=0) == 1
    assert kept.ledger.balance(7, "a") == 1


def test_a_number_is_never_given_again(kept):
    [last] = add(kept, Entry(EntryKind.RESERVE, Fraction(1), 1, "a", 7, 1, until=50))
    kept.prune(quotes=10**6, answers=0)
    [new] = add(kept, Entry(EntryKind.RESERVE, Fraction(1), 1, "a", 7, 2, until=50))
    assert new.number > last.number
    assert kept.prune(quotes=10**6, answers=0) == 1


def test_answers_are_kept_for_as_long_as_somebody_may_ask_again(kept):
    with kept.change() as change:
        change.keep_answer("a", "digest", 100.5, "first")
        assert change.answered("a", "digest", 100.0) == "first"
        assert change.answered("a", "digest", 101.0) is None
        assert change.answered("a", "other", 0.0) is None
        assert change.answered("b", "digest", 0.0) is None
        change.keep_answer("a", "digest", 200.0, "second")
        assert change.answered("a", "digest", 150.0) == "second"
    kept.prune(quotes=0, answers=200)
    with kept.change() as change:
        assert change.answered("a", "digest", 0.0) == "second"
    kept.prune(quotes=0, answers=201)
    with kept.change() as change:
        assert change.answered("a", "digest", 0.0) is None


def test_what_version_3_kept_as_notes_becomes_entries(address):
    with store.open(address, create=True) as kept:
        with kept.change() as change:
            number = change.put(b"<Job><Id>a</Id><User>ann</User><Charge>7.5</Charge></Job>").number
            odd = change.put(b"<Job><Id>odd</Id><Charge>much</Charge></Job>").number
            less = change.put(b"<Job><Id>less</Id><Charge>-3</Charge></Job>").number
            free = change.put(b"<Job><Id>free</Id></Job>").number
            group = change.put(
                b"<JobGroup><Id>g</Id><Job><Id>g1</Id><Charge>1</Charge></Job>"
                b"<Job><Id>g2</Id><Charge>2.5</Charge></Job></JobGroup>"
            ).number
            for name, value in {
                f"charged {number} a": "1000",
                f"charged {odd} odd": "1001", f"charged {less} less": "1002",
                f"charged {free} free": "1003", f"charged {group} g2": "1004",
                "charged 99 gone": "1005",
                "reservations of a": json.dumps([
                    {"id": 2, "amount": "40", "until": 10**11, "details": "1 * 40"}
                ]),
                "reservations of b": "[]",
                "quote 3": json.dumps({
                    "rates": {"resources": {"Processors": "1/3"}, "precision": 2,
                              "multipliers": {"Queue": {"fast": "2"}}},
                    "until": 10**11, "user": "ann",
                }),
                "quotes": "3", "answers about a": "[]", "request 1": "{}",
            }.items():  # fmt: skip
                change.note(name, value)
        for table in ("ledger", "quoted", "answer"):
            kept.engine.fetch(f"DROP TABLE {table}")
        if "://" in address:
            kept.engine.fetch("DROP SEQUENCE ledger_number")
        kept.engine.fetch("UPDATE setting SET value = '3' WHERE name = 'version'")
    with pytest.raises(OtherStore, match="sssjob store upgrade"):
        store.open(address)
    assert store.upgrade(address)
    with store.open(address) as kept:
        assert kept.ledger.balance(number, "a") == Fraction("7.5")
        assert kept.ledger.balance(group, "g2") == Fraction("2.5")
        for place, id, at in (
            (odd, "odd", 1001), (less, "less", 1002), (free, "free", 1003), (99, "gone", 1005),
        ):  # fmt: skip
            first = kept.ledger.of_job(place, id)[0]
            assert (first.amount, first.at) == (0, at)
        [reserved] = kept.ledger.reservations("a", 1000)
        assert (reserved.serial, reserved.amount, reserved.document) == (2, 40, number)
        entry, rates = kept.ledger.quote(3)
        assert (entry.user, entry.places, entry.until, entry.amount) == ("ann", 2, 10**11, None)
        assert rates == {("Resource", "Processors"): Fraction(1, 3), ("Queue", "fast"): 2}
        assert kept.engine.fetch("SELECT name FROM note ORDER BY name") == [
            ("quotes",), ("request 1",),
        ]  # fmt: skip
        assert list(kept.check()) == []


OF_REQUESTS = ("key a", "key ", "request a", "request a elsewhere", "submission by request a 7")
OTHERS = (
    "key", "key!", "kez a", "Key a", "quotes", "reservations", "submission of urn:uuid:7",
    "group submission of g", "requesting", "submission by a", "forwarding to a",
)  # fmt: skip


def test_what_is_noted_of_requests_is_forgotten_and_other_notes_are_not(kept):
    for name in (*OF_REQUESTS, *OTHERS):
        with kept.change() as change:
            change.note(name, "there")
    made = int(max(each[0] for each in kept.engine.fetch("SELECT at FROM change")))
    for quotes, answers in ((0, 0), (made + 1, 0), (0, made + 1), (None, made + 1)):
        kept.prune(quotes=quotes, answers=answers)
        assert all(kept.noted(name) for name in (*OF_REQUESTS, *OTHERS))
    kept.prune(quotes=made + 1, answers=made + 1)
    left = {name for [name] in kept.engine.fetch("SELECT name FROM note")}
    assert left >= {*OTHERS}
    assert not left & {*OF_REQUESTS}


def test_as_many_notes_of_requests_are_forgotten_as_there_are(kept, monkeypatch):
    monkeypatch.setattr("sssjob.store.store._FORGOTTEN", 2)
    with kept.change() as change:
        for number in range(5):
            change.note(f"request {number}", "there")
    kept.prune(quotes=10**11, answers=10**11)
    assert kept.notes("request ") == {}


ANN, BOB = Owner("ann", "p1"), Owner("bob", "p2")


def test_a_charge_of_nothing_makes_nobody_the_last_one_that_was_charged():
    ann, bob = Owner("ann"), Owner("bob")
    entered = [(ann, Fraction(5)), (bob, Fraction(7)), (ann, Fraction(0))]
    assert shares(entered, Fraction(4)) == [(bob, Fraction(4))]


def test_an_amount_goes_back_to_who_was_charged_last_and_then_to_those_before():
    charged = [(ANN, Fraction(10)), (BOB, Fraction(3)), (ANN, Fraction(1)), (BOB, Fraction(-1))]
    assert shares(charged, Fraction(4)) == [(ANN, 4)]
    assert shares(charged, Fraction(12)) == [(ANN, 11), (BOB, 1)]
    assert shares(charged, Fraction(15)) == [(ANN, 13), (BOB, 2)]  # more than anybody paid
    assert shares([(ANN, Fraction(10)), (BOB, Fraction(3))], Fraction(4)) == [(BOB, 3), (ANN, 1)]
    assert shares([], Fraction(4)) == [(Owner(), 4)]
    half = Fraction(1, 2)
    assert shares([(ANN, half), (BOB, half)], 2 * half) == [(BOB, half), (ANN, half)]
    assert shares([(ANN, half)], 3 * half) == [(ANN, 3 * half)]
    assert shares(charged, Fraction()) == []


@given(
    st.lists(
        st.tuples(st.sampled_from([ANN, BOB, Owner()]), st.integers(1, 9).map(Fraction)), min_size=1
    ),
    st.data(),
)
def test_whoever_was_charged_never_gets_more_than_was_taken(charged, data):
    left = sum(credits for _, credits in charged)
    entries = list(charged)
    while left:
        amount = Fraction(data.draw(st.integers(1, int(left))))
        given_back = shares(entries, amount)
        assert sum(credits for _, credits in given_back) == amount
        entries += [(owner, -credits) for owner, credits in given_back]
        left -= amount
        for owner in {owner for owner, _ in entries}:
            assert sum(credits for each, credits in entries if each == owner) >= 0
