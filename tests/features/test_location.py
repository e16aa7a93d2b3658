import pytest

from sssjob.errors import InvalidValue
from sssjob.features.files import LOCAL, REMOTE, locate


@pytest.mark.parametrize(
    "text, kind, place",
    [
        ("/run/mjf/1", LOCAL, "/run/mjf/1"),
        ("/run/mjf/1/", LOCAL, "/run/mjf/1"),
        ("/", LOCAL, "/"),
        ("http://169.254.169.253/jobfeatures", REMOTE, "http://169.254.169.253/jobfeatures"),
        ("https://mjf.example.org/x/", REMOTE, "https://mjf.example.org/x"),
        ("HTTPS://mjf.example.org/x", REMOTE, "https://mjf.example.org/x"),
    ],
)
def test_the_beginning_decides_whether_it_is_local_or_remote(text, kind, place):
    found = locate(text)
    assert (found.kind, found.place, found.advice) == (kind, place, "")


@pytest.mark.parametrize(
    "text, place, advice",
    [
        ("file:///run/mjf", "/run/mjf", "write /run/mjf"),
        ("mjf", "mjf", "does not begin with a slash"),
    ],
)
def test_what_is_tolerated_comes_with_advice(text, place, advice):
    found = locate(text)
    assert (found.kind, found.place) == (LOCAL, place)
    assert advice in found.advice


@pytest.mark.parametrize("text", ["", "ftp://host/x", "gopher://x", "file://host/x", "/a\0b"])
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidValue):
        locate(text)
