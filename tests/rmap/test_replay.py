"""A request with a nonce is taken once, and not too late."""

import pytest

from sssjob.errors import Refused
from sssjob.rmap.message import Object, Request
from sssjob.rmap.replay import Nonces, mark_of


def request(nonce="n", time=1000, actor="ann"):
    return Request("Charge", actor, (Object("Job"),), nonce=nonce, time=time)


def code(nonces, asked, now):
    with pytest.raises(Refused) as refused:
        nonces.admit(asked, now)
    return refused.value.code


def test_a_copy_is_refused_and_the_nonce_of_another_is_not():
    nonces = Nonces(since=0)
    nonces.admit(request(), 1000)
    assert code(nonces, request(), 1001) == "424"
    nonces.admit(request(actor="bob"), 1001)
    nonces.admit(request("m"), 1001)


@pytest.mark.parametrize("time", [699, 1301])
def test_what_is_not_of_this_time_is_refused(time):
    assert code(Nonces(since=0), request(time=time), 1000) == "424"


@pytest.mark.parametrize("time", [700, 1300])
def test_what_is_just_of_this_time_is_taken_once(time):
    nonces = Nonces(since=0)
    nonces.admit(request(time=time), 1000)
    assert code(nonces, request(time=time), 1000) == "424"


def test_a_copy_is_refused_as_long_as_it_would_be_of_this_time():
    nonces = Nonces(since=0, window=300)
    nonces.admit(request(time=1200), 1000)
    for now in (1000, 1300, 1499):
        nonces.admit(request(f"at {now}", now), now)
        assert code(nonces, request(time=1200), now) == "424"


def test_what_was_sent_before_it_remembers_is_refused():
    assert code(Nonces(since=1000.5), request(time=999), 1001) == "424"


def test_old_nonces_are_forgotten():
    nonces = Nonces(since=0, window=10, limit=2)
    for now in range(1000, 2000, 20):
        nonces.admit(request(str(now), now), now)
    assert len(nonces._seen) == 1


def test_a_nonce_is_remembered_up_to_the_last_moment_of_its_time():
    nonces = Nonces(since=0, window=10)
    nonces.admit(request(time=1000), 1000)
    assert code(nonces, request(time=1000), 1010) == "424"
    nonces.admit(request("m", 1011), 1010.5)
    assert len(nonces._seen) == 1


def test_a_mark_is_small_and_tells_actor_and_nonce_apart():
    assert len(mark_of(request("n" * 1000))) == 16
    marks = [mark_of(request("b", actor="a")), mark_of(request("", actor="ab"))]
    assert len({*marks, mark_of(request("ab", actor=""))}) == 3


def test_when_too_many_are_remembered_the_client_is_asked_to_come_again():
    nonces = Nonces(since=0, limit=1)
    nonces.admit(request("1"), 1000)
    assert code(nonces, request("2"), 1000) == "730"


def test_a_nonce_may_be_required_and_never_stands_without_its_time():
    Nonces(since=0).admit(request("", None), 1000)
    assert code(Nonces(since=0, required=True), request("", None), 1000) == "424"
    assert code(Nonces(since=0), request("n", None), 1000) == "424"
    assert code(Nonces(since=0), request("", 1000), 1000) == "424"
