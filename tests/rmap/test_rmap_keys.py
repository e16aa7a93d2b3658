"""Keys come from files that nobody else can read, and prove only whose they are."""

import os

import pytest

from sssjob.errors import BadKeyFile
from sssjob.rmap.keys import Key, Ring, read_key

SHARED, ANN, WORD = Key(b"shared"), Key(b"ann's", owner="ann"), Key(b"s3cretpass", owner="bob")
RING = Ring(SHARED, {"ann": ANN}, {"bob": WORD}, frozenset({"eve"}))


@pytest.mark.parametrize(
    "token, name, actor, key",
    [
        pytest.param("Symmetric", "", "root", SHARED, id="shared"),
        pytest.param("Symmetric", "root", "root", SHARED, id="shared, named"),
        pytest.param("Symmetric", "", "ann", ANN, id="her own"),
        pytest.param("Symmetric", "ann", "root", None, id="another's name"),
        pytest.param("Symmetric", "", "eve", None, id="revoked"),
        pytest.param("Password", "bob", "bob", WORD, id="password"),
        pytest.param("Password", "", "bob", None, id="password of nobody"),
        pytest.param("Password", "bob", "ann", None, id="password of another"),
        pytest.param("Password", "ann", "ann", None, id="no password"),
        pytest.param("Kerberos5", "", "root", None, id="token of another kind"),
    ],
)
def test_a_token_is_proven_by_one_key_or_by_none(token, name, actor, key):
    assert RING.find(token, name, actor) == key


def test_without_a_shared_key_only_those_with_keys_of_their_own_are_proven():
    assert Ring(own={"ann": ANN}).find("Symmetric", "", "root") is None


@pytest.mark.parametrize("text", [b" key \n", b" key \nmore\n", b" key ", b" key \r\n"])
def test_the_first_line_is_the_key_as_it_is(tmp_path, text):
    path = tmp_path / "key"
    path.write_bytes(text)
    path.chmod(0o600)
    assert read_key(path) == b" key "


@pytest.mark.parametrize(
    "mode, text, reason",
    [
        pytest.param(0o644, b"key", "mode 0644, expected 0600", id="others read it"),
        pytest.param(0o620, b"key", "mode 0620", id="a group writes it"),
        pytest.param(0o600, b"\nkey", "first line is empty", id="empty"),
    ],
)
def test_a_file_that_keeps_no_secret_is_refused(tmp_path, mode, text, reason):
    path = tmp_path / "key"
    path.write_bytes(text)
    path.chmod(mode)
    with pytest.raises(BadKeyFile, match=reason):
        read_key(path)


def test_what_is_no_file_is_refused():
    with pytest.raises(BadKeyFile, match="not a regular file"):
        read_key(os.devnull)
