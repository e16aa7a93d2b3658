"""Addresses of servers are read as people write them."""

import pytest

from sssjob.rmap.address import Address, address

ADDRESSES = [
    ("a", "a", 7112),
    ("a:0", "a", 0),
    ("a:65535", "a", 65535),
    ("[::1]", "::1", 7112),
    ("[::1]:65535", "::1", 65535),
]


@pytest.mark.parametrize("text, host, port", ADDRESSES)
def test_an_address_has_a_host_and_perhaps_a_port(text, host, port):
    assert address(text) == Address(host, port)
    assert address(str(address(text))) == address(text)


def test_an_address_is_written_with_its_port():
    assert str(Address("a")) == "a:7112"
    assert str(Address("::1", 1)) == "[::1]:1"


NONE = ["", ":", ":1", "a:", "a:b", "a:65536", "a:000001", "::1", "[::1", "[]", "a:-1", "a:\u0661"]
NONE += ["a..b:1", f"{'a' * 64}.org", ".a", "a\0b", "a\u202eb", "\udcff"]  # of no resolver


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        address(text)
