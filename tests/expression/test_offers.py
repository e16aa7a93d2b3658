"""Offers of plain data and of JSON: what each member means, and what is refused of one."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from sssjob.errors import WrongKind
from sssjob.expression import offers
from sssjob.expression.offers import BadOffer, offer

GB = 1 << 30
MB = 1 << 20


@pytest.mark.parametrize(
    "row, amounts",
    [
        ({"Memory": 5}, {"Memory": 5 * MB}),
        ({"Memory": "2 GB"}, {"Memory": 2 * GB}),
        ({"Memory": "2GB"}, {"Memory": 2 * GB}),
        ({"Memory": {"value": 5, "units": "GB"}}, {"Memory": 5 * GB}),
        ({"Memory": Decimal("1.5")}, {"Memory": 1536 << 10}),
        ({"Memory": 1.5}, {"Memory": 1536 << 10}),
        ({"Memory": Fraction(1, 2)}, {"Memory": 512 << 10}),
        ({"Memory": "1.5 GB"}, {"Memory": 1536 * MB}),
        ({"Duration": "00:01:00"}, {"Duration": 60}),
        ({"Duration": timedelta(hours=1)}, {"Duration": 3600}),
        ({"wallclockLimit": 60}, {"Duration": 60}),
        ({"Processors": "8"}, {"Processors": 8}),
        ({"Resource": {"matlab": 3}}, {"Resource[name='matlab']": 3}),
        ({"Resource": {"value": 3, "name": "matlab"}}, {"Resource[name='matlab']": 3}),
        ({"Resource": {"gpu": 2}}, {"Resource[name='GPU']": 2}),
        ({"Memory": {"Available": "32 GB"}}, {"Memory": 32 * GB}),
        ({"Memory": {"value": "5 GB", "metric": "Max"}}, {"Memory": 5 * GB}),
        ({"Memory": []}, {}),
        ({"Memory": None, "Processors": 1}, {"Processors": 1}),
    ],
)
def test_an_amount_is_in_its_default_unit_or_in_the_one_that_it_names(row, amounts):
    found = offers.offer(row).amounts
    assert {name: value for name, value in found.items() if "|" not in name} == amounts


@pytest.mark.parametrize(
    "held, dedicated",
    [
        ({"Configured": 64, "Available": 64}, 64 * MB),
        ({"Configured": 64, "Available": 32}, 0),
        ({"Configured": 64, "Available": 32, "Dedicated": 8}, 8 * MB),
        ({"Configured": 64}, None),
        ({"Available": 64}, None),
    ],
)
def test_what_is_free_of_something_in_use_is_nobody_elses_in_part_only(held, dedicated):
    assert offers.offer({"Memory": held}).amounts.get("Memory|Dedicated|") == dedicated


@pytest.mark.parametrize(
    "row, names",
    [
        ({"Feature": "ib"}, {"Feature": ("ib",)}),
        ({"Feature": ["ib", "ssd"]}, {"Feature": ("ib", "ssd")}),
        ({"Feature": ("ib", "ssd")}, {"Feature": ("ib", "ssd")}),
        ({"Feature": {"ssd", "ib"}}, {"Feature": ("ib", "ssd")}),
        ({"Feature": frozenset(["ssd", "ib"])}, {"Feature": ("ib", "ssd")}),
        ({"Feature": True}, {"Feature": ("true",)}),
        ({"Feature": [False, 7]}, {"Feature": ("false", "7")}),
        ({"Feature": []}, {"Feature": ()}),
        ({"Feature": None}, {}),
        ({"UserId": "amy"}, {"User": ("amy",)}),
        ({"StartTime": datetime(2026, 1, 1, tzinfo=UTC)}, {"StartTime": ("1767225600",)}),
        ({"Node": {"value": "n[1-3]", "aggregation": "Range"}}, {"Node": ("n1", "n2", "n3")}),
        ({"Node": {"value": "a,b", "aggregation": "List"}}, {"Node": ("a", "b")}),
        ({"Version": "2 GB"}, {"Version": ("2 GB",)}),
    ],
)
def test_a_name_is_one_or_the_members_of_a_set(row, names):
    assert offers.offer(row).names == names


@pytest.mark.parametrize(
    "row, id_, mode",
    [
        ({}, "4", "fit"), ({"id": "n1"}, "n1", "fit"), ({"id": 7}, "7", "fit"),
        ({"mode": "exact"}, "4", "exact"), ({"mode": "fit"}, "4", "fit"), ({"id": ""}, "", "fit"),
    ],
)  # fmt: skip
def test_an_offer_has_its_id_or_its_place(row, id_, mode):
    found = offers.offer(row, 4)
    assert (found.id, found.mode, dict(found.facts)) == (id_, mode, {})
    assert offers.offer({}, 4, "exact").mode == "exact"


@pytest.mark.parametrize(
    "row, reason",
    [
        ([1], "[3]: expected an object of property name to value, not an array"),
        (None, "[3]: expected an object of property name to value, not null"),
        ("x", "[3]: expected an object of property name to value, not a text"),
        (True, "[3]: expected an object of property name to value, not a boolean"),
        (2.5, "[3]: expected an object of property name to value, not a number"),
        (object(), "[3]: expected an object of property name to value, not a value of Python's"),
        ({1: 2}, "[3]: the key 1 is no name of a property"),
        ({"id": None}, "[3] (None): id is null, not a text"),
        ({"id": True}, "[3] (True): id is a boolean, not a text"),
        ({"id": {}}, "[3] ({}): id is an object, not a text"),
        ({"id": "n", "mode": None}, "[3] (n): mode None is neither fit nor exact"),
        ({"id": "n", "Memory": ["1 GB", None]}, "(n): Memory: null where a text or a number"),
        ({"Memory": {"value": []}}, "Memory: an array where a text or a number is due"),
        ({"Memory": True}, "Memory: 'true' is not a number"),
        ({"Processors": "0x4"}, "Processors: '0x4' is not a number"),
        ({"Duration": "soon"}, "Duration: 'soon' is not a duration"),
        ({"wallclockLimit": "soon"}, "wallclockLimit: 'soon' is not a duration"),
        ({"Memory": "2 XB"}, "Memory: 'XB' is not one of the units"),
        ({"Feature": [["a"]]}, "Feature: an array in an array"),
        ({"Feature": [("a",)]}, "Feature: an array in an array"),
        ({"Feature": [{"a"}]}, "Feature: an array in an array"),
        ({"Feature": {"x": 1}}, "an object without value, or with other names than Configured, Av"),
        ({"Memory": {"Available": 1, "Free": 1}}, "an object without value, or with other names"),
        ({"Feature": ["a"] * 100_001}, "Feature: more than 100000 values"),
        ({"Node": {"value": "n*", "aggregation": "Pattern"}}, "it is a pattern"),
        ({"a b": 1}, "a b: 'a b' is not a name of XML"),
    ],
)
def test_a_bad_offer_is_refused_with_its_place_and_its_name(row, reason):
    with pytest.raises(BadOffer) as raised:
        offers.offer(row, 3)
    assert str(raised.value).startswith("offers[3]")
    assert reason in str(raised.value)
    assert raised.value.index == 3


def test_as_many_values_as_are_allowed_are_taken():
    assert len(offers.offer({"Feature": ["a"] * 100_000}).names["Feature"]) == 100_000


@pytest.mark.parametrize(
    "text, said",
    [
        (b"", "no JSON: a value is missing at line 1, column 1"),
        (b"{", "no JSON: a name in double quotes is missing"),
        (b"\xff", "no JSON: it is no text in UTF-8"),
        (b'[{"A": 1, "A": 2}]', "no JSON: 'A' stands twice in one object"),
        (b"[" * 100_000, "arrays or objects too deep inside each other"),
    ],
)
def test_what_is_no_json_is_told_of_the_file(text, said):
    with pytest.raises(BadOffer, match=r"^offers: ") as raised:
        list(offers.read(text))
    assert said in str(raised.value)
    assert raised.value.index is None


def test_a_file_of_offers_is_bounded(monkeypatch):
    text = b'[{"id": "n1"}]'
    monkeypatch.setattr(offers, "SIZE_LIMIT", len(text))
    assert [each.id for each in offers.read(text)] == ["n1"]
    with pytest.raises(BadOffer, match="more than 0 MiB"):
        list(offers.read(text + b" "))


def test_one_bad_offer_is_told_and_the_others_are_given():
    told = []
    found = offers.made([{"id": "a"}, 1, {"id": "b"}, {"Memory": "x"}], "fit", told.append)
    assert [each.id for each in found] == ["a", "b"]
    assert [error.index for error in told] == [1, 3]
    with pytest.raises(BadOffer):
        list(offers.made([1], "fit"))


def test_numbers_are_exactly_as_they_are_written():
    (found,) = offers.read(b'{"Processors": 12345678901234567890123, "Memory": 0.1}')
    assert found.amounts["Processors"] == 12345678901234567890123
    assert found.amounts["Memory"] == Fraction(MB, 10)


def test_each_unknown_name_is_told_once():
    rows = [{"Memroy": 1, "Memory": 2, "x": 3}, {"Memroy": 1, "Queue": "q"}, {"x": []}]
    assert list(offers.unknown(map(offers.offer, rows))) == [
        "Memroy is not a property that can be requested; did you mean Memory?",
        "x is not a property that can be requested",
    ]


def test_the_amounts_that_are_asked_of_an_offer_are_names():
    given_ = offer({"Memory": 4})
    name = next(iter(given_.amounts))
    assert given_.amount([name]) == given_.amount((name,)) == given_.amounts[name]
    with pytest.raises(WrongKind, match="names of amounts"):
        given_.amount(4)
