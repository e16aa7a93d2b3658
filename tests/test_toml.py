"""Numbers in files of settings: none of more digits than can be written out reaches anybody.

Python makes a number of any size of the 20 letters of 1e-9999999999999999999, or fails, each of its
kinds of numbers in a way of its own.
"""

import re
from datetime import UTC
from decimal import Decimal

import pytest
from click.testing import CliRunner

from sssjob import settings
from sssjob.accounting import reference
from sssjob.cli import sssjob
from sssjob.clusters.profile import Profile
from sssjob.errors import BadSettings, SSSJobError
from sssjob.features import site
from sssjob.gateway import config as gateway

MOST = settings.DIGITS
TOO_LONG = {
    "an exponent below any": "1e-9999999999999999999",
    "an exponent above any": "1E9999999999999999999",
    "a large exponent": f"1.5e{MOST + 1}",
    "one with a sign": f"-2e+{MOST + 1}",
    "one with lines between its digits": f"1e{'_'.join(str(MOST + 1))}",
    "one of nothing": f"0e{MOST + 1}",
    "an exponent of very many digits": f"1e{'9' * 9 * MOST}",
    "a whole number": "9" * (MOST + 1),
    "a number of sixteen digits each": f"0x{'f' * MOST}",
    "digits behind a point": f"0.{'1' * MOST}",
    "digits around a point": f"{'1' * 600}.{'1' * 600}",
}
AS_TOLD = {
    "an exponent": f"1e{MOST}", "one below": f"1e-{MOST}", "zeros before it": "1e-000000000002",
    "digits": "9" * MOST, "one of letters": f"0x{'e' * (MOST - 2)}", "no number": "inf",
    "a time": "2026-11-30T00:00:00Z",
}  # fmt: skip
PLACES = {
    "a key": "a = {}", "a list": "a = [1, {}]", "lines of a list": "a = [\n1, # one\n\n{},\n]",
    "a table": "a = {{ b = {} }}", "a table behind others": "[a]\nb = 1\n[[c]]\nd = {}",
}  # fmt: skip


def line_of(text, number):
    return text[: text.index(number)].count("\n") + 1


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("number", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize("kind", [float, Decimal])
def test_a_number_of_more_digits_than_may_be_written_is_refused_with_its_line(kind, number, place):
    text = place.format(number)
    with pytest.raises(settings.BadToml) as caught:
        settings.toml(text, kind)
    at = line_of(text, number)
    assert str(caught.value) == f"a number of more than {MOST} digits (at line {at}, column 1)"


@pytest.mark.parametrize("number", AS_TOLD.values(), ids=AS_TOLD)
@pytest.mark.parametrize("kind", [float, Decimal])
def test_other_numbers_are_what_they_say(kind, number):
    found = settings.toml(f"a = {number}", kind)["a"]
    assert found == settings.tomllib.loads(f"a = {number}", parse_float=kind)["a"]


@pytest.mark.parametrize("text", [
    'a = "= 1e99999"', "a = '= 1e99999'", 'a = """\n= 1e99999\n"""', "a = '''\n= 1e99999\n'''",
    "a = 1 # = 1e99999", "a1e99999 = 1", "x.1e99999 = 1",
])  # fmt: skip
def test_what_looks_like_such_a_number_and_is_none_is_read(text):
    assert settings.toml(text)


def refused(read, path):
    with pytest.raises(SSSJobError) as caught:
        read(path)
    return str(caught.value)


READS = {
    "rows": settings.rows,
    "settings": settings.read,
    "a gateway": gateway.load,
    "a profile": Profile.read,
    "a site": site.read,
    "names": lambda path: reference.names([path], UTC),
    "rates": lambda path: reference.rates(path, UTC, reference.names([], UTC)),
    "factors": lambda path: reference.factors(path, UTC, reference.names([], UTC)),
}


@pytest.mark.parametrize("number", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_whoever_reads_settings_refuses_it_and_names_the_file(read, number, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(f"[[rate]]\ncpu_hour = {number}\n")
    said = refused(read, path)
    assert str(path) in said
    assert "more than" in said


def test_so_do_the_defaults_of_commands(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("zone = 1e-9999999999999999999\n")
    found = CliRunner().invoke(sssjob, ["--config", str(path), "config", "show"])
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"config.toml: a number of more than {MOST} digits" in found.stderr


def test_a_price_is_told_no_longer_than_its_digits_may_be(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(f"[[rate]]\ncpu_hour = 1e{MOST}\n")
    with pytest.raises(BadSettings) as caught:
        READS["rates"](path)
    assert len(str(caught.value)) < 2 * MOST


@pytest.mark.parametrize(
    "text", [r'a = "b\u0000c"', r'a = ["b", {c = "\U00000000"}]', r'"a\u0000" = 1']
)
def test_a_text_with_the_character_0_is_refused_with_its_line(text):
    said = "U+0000, which no name or path has (at line 2, column 1)"
    with pytest.raises(settings.BadToml, match=re.escape(said)):
        settings.toml(f"b = 1\n{text}\n")


@pytest.mark.parametrize("text", [r"a = 'b\u0000c'", r'a = "\\u0000"', r'a = "\u0001"'])
def test_what_only_looks_like_it_is_read(text):
    assert settings.toml(text)


@pytest.mark.parametrize("table", ["[security]", "[actors.x]", "[forward]", "[store]"])
def test_a_gateway_names_the_file_of_such_settings(table, tmp_path):
    path = tmp_path / "gateway.toml"
    path.write_text(f'{table}\nkey = "a\\u0000b"\n')
    found = CliRunner().invoke(sssjob, ["serve", "--config", str(path), "--check"])
    assert found.exit_code != 0
    assert found.exception is None or isinstance(found.exception, SystemExit)
    assert f"{path}:2: " in found.stderr
    assert "U+0000" in found.stderr
