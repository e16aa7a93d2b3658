"""Keys come from files that nobody else can read, and prove only whose they are."""

import os

import pytest

from sssjob.errors import BadKeyFile
from sssjob.rmap import keys
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


def test_a_file_of_another_user_is_refused_but_not_one_of_root(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_bytes(b"key")
    path.chmod(0o600)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    if owner:
        with pytest.raises(BadKeyFile, match=f"owned by user {owner}, expected {owner + 1}"):
            read_key(path)
    else:
        assert read_key(path) == b"key"
        os.chown(path, 7, -1)
        with pytest.raises(BadKeyFile, match="owned by user 7, expected 1 or root"):
            read_key(path)


def test_a_long_key_is_read_whole_or_refused(tmp_path):
    path = tmp_path / "key"
    path.touch(0o600)
    for end in (b"", b"\n", b"\nmore"):
        path.write_bytes(b"a" * keys._LONGEST + end)
        assert read_key(path) == b"a" * keys._LONGEST
        path.write_bytes(b"a" * (keys._LONGEST + 1) + end)
        with pytest.raises(BadKeyFile, match="more than 4096 bytes"):
            read_key(path)


def test_what_is_no_file_is_refused():
    with pytest.raises(BadKeyFile, match="not a regular file"):
        read_key(os.devnull)
