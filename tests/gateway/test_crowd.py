"""Who takes most makes room, the slowest first; told by counting, without a clock."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.gateway.crowd import Crowd, network


class Member:
    def __init__(self, origin):
        self.origin, self.gone = origin, False

    def abort(self):
        self.gone = True


def entered(crowd, *origins):
    members = [Member(each) for each in origins]
    assert all(crowd.enter(each) for each in members)
    return members


def test_the_address_with_most_connections_makes_room_and_the_slowest_goes_first():
    crowd = Crowd(4, 1000)
    a, b, c, other = entered(crowd, "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2")
    crowd.wait(a)  # it was answered, and has begun anew
    assert crowd.enter(Member("10.0.0.3"))
    assert [each.gone for each in (a, b, c, other)] == [False, True, False, False]
    assert len(crowd) == 4


def test_who_has_most_takes_the_place_of_his_own_connections_only():
    crowd = Crowd(3, 1000)
    a, other, b = entered(crowd, "10.0.0.1", "10.0.0.2", "10.0.0.1")
    c = Member("10.0.0.1")
    assert crowd.enter(c)
    assert [each.gone for each in (a, other, b, c)] == [True, False, False, False]


def test_who_is_being_answered_does_not_go():
    crowd = Crowd(2, 1000)
    a, b = entered(crowd, "10.0.0.1", "10.0.0.1")
    crowd.work(a)
    crowd.work(b)
    assert not crowd.enter(Member("10.0.0.2"))
    crowd.wait(b)
    assert crowd.enter(Member("10.0.0.2"))
    assert (a.gone, b.gone) == (False, True)


def test_bytes_of_the_address_that_holds_most_make_room_for_those_of_others():
    crowd = Crowd(10, 100)
    a, b, other = entered(crowd, "10.0.0.1", "10.0.0.1", "10.0.0.2")
    assert crowd.hold(a, 50)
    assert crowd.hold(b, 50)
    assert not crowd.hold(b, 51)  # its own address holds most
    assert crowd.hold(other, 20)
    assert (a.gone, b.gone, crowd.held) == (True, False, 71)
    assert not crowd.hold(a, 5)  # it is gone
    crowd.leave(a)
    crowd.leave(b)
    assert (crowd.held, len(crowd)) == (20, 1)


def test_a_connection_without_bytes_is_left_alone_where_bytes_are_short():
    crowd = Crowd(10, 100)
    idle, busy, other = entered(crowd, "10.0.0.1", "10.0.0.1", "10.0.0.2")
    crowd.hold(busy, 100)
    crowd.work(busy)
    assert not crowd.hold(other, 1)
    assert not idle.gone


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "", True),
        ("a socket", "", False),
    ],
)
def test_a_host_is_one_address_however_many_it_has(one, other, is_same):
    assert (network(one) == network(other)) is is_same


steps = st.lists(
    st.tuples(st.sampled_from(["enter", "leave", "wait", "work", "hold"]), st.integers(0, 3),
              st.integers(0, 40))
)  # fmt: skip


@given(steps)
def test_nobody_loses_anything_to_an_address_that_has_more(steps):
    crowd, inside = Crowd(4, 100), []
    for do, address, number in steps:
        before = [each for each in inside if not each.gone]
        counts = Counter(each.origin for each in before)
        if do == "enter":
            new = Member(f"10.0.0.{address}")
            if crowd.enter(new):
                inside.append(new)
            for each in before:
                assert not each.gone or counts[each.origin] >= counts[new.origin]
        elif before:
            member = before[number % len(before)]
            if do == "leave":
                crowd.leave(member)
                inside.remove(member)
            elif do == "hold":
                crowd.hold(member, number)
                assert not member.gone
                assert all(not each.gone for each in before if each.origin == member.origin)
            else:
                getattr(crowd, do)(member)
        inside = [each for each in inside if not each.gone]
        assert len(crowd) == len(inside) <= 4
