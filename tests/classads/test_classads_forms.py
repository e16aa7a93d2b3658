"""Ads in their four forms: read as HTCondor wrote them, and read back as we write them."""

import io
import json
from pathlib import Path

import classad_strategies
import pytest
from classads_oracle import classad2, value_of
from hypothesis import given

from sssjob.classads import evaluate, forms, long
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import plain
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, Unparsed, same

DATA = Path(__file__).parent.parent / "data" / "condor"
FILES = sorted(path for path in DATA.iterdir() if path.suffix not in (".md",))


def read(name, **options):
    with open(DATA / name, "rb") as stream:
        return list(forms.read(stream, **options))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_htcondor_printed_is_read_without_a_word_and_round_trips_in_all_forms(path):
    ads = read(path.name)
    assert ads
    for form in forms.FORMS:
        written = "".join(forms.write(ads, form))
        assert forms.read_text(written) == ads, form


@pytest.mark.parametrize("name", ["condor_q", "condor_status", "condor_history"])
def test_the_same_ads_are_read_from_every_form(name):
    long_, json_, xml = (read(f"{name}.{form}") for form in ("long", "json", "xml"))
    assert [alike(ad) for ad in json_] == [alike(ad) for ad in xml] == [alike(ad) for ad in long_]


def alike(ad):
    """An ad without what changed between two runs of a command, reals as the long form has them."""
    kept = {name.lower(): value for name, value in ad.items()
            if name not in ("ServerTime", "StatsLifetimeStarter", "MonitorSelfAge")
            and not name.startswith(("Recent", "DaemonCore", "LastHeardFrom", "LastJobLease"))
            and "Time" not in name and "LoadAvg" not in name and "Usage" not in name}  # fmt: skip
    return {name: round(value, 6) if isinstance(value, float) else value
            for name, value in kept.items()}  # fmt: skip


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
@pytest.mark.parametrize("name", ["condor_q.long", "condor_status.long", "job.ad", "machine.ad"])
def test_the_bindings_read_the_long_form_alike(name):
    theirs = list(classad2.parseAds((DATA / name).read_text(), classad2.ParserType.Old))
    ours = read(name)
    assert len(theirs) == len(ours)
    for their, our in zip(theirs, ours, strict=True):
        assert {key.lower() for key in their} == {key.lower() for key in our}
        for key, value in their.items():
            assert same(value_of(value), our[key]), key


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
@given(classad_strategies.ads())
def test_the_bindings_read_what_we_write_in_the_long_and_in_the_new_form(ad):
    [text] = forms.write([ad], "new")
    new = classad2.ClassAd(text)
    [old] = classad2.parseAds(long.write(ad), classad2.ParserType.Old)
    for name, value in ad.items():
        if not isinstance(value, (Ad, tuple)):  # theirs come back half evaluated
            assert same(value_of(new[name]), value)
            assert same(value_of(old[name]), value)


@pytest.mark.parametrize("form", forms.FORMS)
@given(ads=classad_strategies.ads())
def test_every_ad_is_read_back_from_every_form(form, ads):
    assert forms.read_text("".join(forms.write([ads], form)), form) == [ads]


@pytest.mark.parametrize("form", forms.FORMS)
@given(ads=classad_strategies.ads(classad_strategies.TEXTS))
def test_what_a_form_cannot_hold_is_refused_and_never_damaged(form, ads):
    try:
        written = "".join(forms.write([ads], form))
    except BadAd:
        return
    assert forms.read_text(written, form) == [ads]


@pytest.mark.parametrize("form", ["new", "json", "xml"])
def test_line_feeds_and_backslashes_are_kept_where_there_is_a_way_to_write_them(form):
    ad = Ad({"a": 'two\nlines\\ and "quotes"', "b": "\ttab"})
    assert forms.read_text("".join(forms.write([ad], form)), form) == [ad]


@pytest.mark.parametrize(
    "text, reason",
    [
        pytest.param("two\nlines", "'\\\\n' cannot be written", id="line feed"),
        pytest.param("carriage\rreturn", "'\\\\r' cannot be written", id="carriage return"),
        pytest.param("nul\0", "'\\\\x00' cannot be written", id="NUL"),
        pytest.param("\ud800", "'\\\\ud800' cannot be written", id="lone surrogate"),
    ],
)
def test_the_long_form_refuses_what_would_damage_the_ad(text, reason):
    with pytest.raises(BadAd, match=reason):
        long.write(Ad({"Name": text}))


def test_a_backslash_at_the_end_is_literal_only_at_the_end_of_the_line():
    assert long.write(Ad({"Iwd": "C:\\"})) == 'Iwd = "C:\\"\n'
    assert long.attribute('Iwd = "C:\\"') == ("Iwd", "C:\\")
    with pytest.raises(BadAd, match="not closed"):
        long.attribute('Iwd = "C:\\" ')
    with pytest.raises(BadAd, match="backslash at the end"):
        long.write(Ad({"List": ("C:\\", 1)}))


LINES = [
    pytest.param("A=1", ("A", 1), id="no blanks"),
    pytest.param("  A\t=  1", ("A", 1), id="blanks"),
    pytest.param("A = TRUE", ("A", True), id="boolean"),
    pytest.param("A = 287.0", ("A", 287.0), id="real"),
    pytest.param("A = 1.5E+03", ("A", 1500.0), id="exponent"),
    pytest.param("A = -7", ("A", -7), id="negative"),
    pytest.param("A = undefined", ("A", UNDEFINED), id="undefined"),
    pytest.param("A = ERROR", ("A", ERROR), id="error"),
    pytest.param('A = "a \\"b\\" \\\\"', ("A", 'a "b" \\\\'), id="quotes and backslashes"),
    pytest.param('A = { 1,"x" }', ("A", (1, "x")), id="list"),
    pytest.param("A = [ a = 1 ]", ("A", Ad({"a": 1})), id="nested"),
    pytest.param("A = b =?= 1", ("A", plain("b is 1")), id="expression"),
    pytest.param("'a b' = 1", ("a b", 1), id="quoted name"),
    pytest.param('A = absTime("2003-04-28T19:21:53Z")', ("A", AbsTime(1051557713)), id="moment"),
]


@pytest.mark.parametrize("line, found", LINES)
def test_a_line_of_the_long_form_is(line, found):
    name, value = long.attribute(line)
    assert name == found[0]
    assert same(value, found[1])


BAD_LINES = [
    pytest.param(b"just words\n", "NAME = VALUE", id="no attribute"),
    pytest.param(b"A == 1\n", "NAME = VALUE", id="two equal signs"),
    pytest.param(b"= 1\n", "NAME = VALUE", id="no name"),
    pytest.param(b"A =\n", "without a value", id="no value"),
    pytest.param(b'A = "open\n', "not closed", id="open string"),
    pytest.param(b"A = 1 ;\n", "';'", id="semicolon"),
    pytest.param(b"A = 1K\n", "no number", id="unit"),
    pytest.param(b"--help\n", "NAME = VALUE", id="hyphens"),
    pytest.param(b'A = "%s"\n' % (b"x" * (1 << 20)), "more than 1048576 bytes", id="1 MB"),
    pytest.param(b"A = " + b"(" * 9999 + b"\n", "levels deep", id="deep"),
]
STRICTLY_BAD = [
    pytest.param(b"# comment\n", "NAME = VALUE", id="comment"),
    pytest.param(b"-----\n", "one ad and nothing else", id="separator"),
    pytest.param(b"*** Offset = 1\n", "one ad and nothing else", id="banner"),
    pytest.param(b"A = 1\r\n", "carriage return", id="carriage return"),
    pytest.param(b'A = "\xff"\n', "no UTF-8", id="bytes"),
    pytest.param(b"a.b = 1\n", "no name", id="dot"),
]


@pytest.mark.parametrize("line, reason", [*BAD_LINES, *STRICTLY_BAD])
def test_one_bad_line_spoils_what_is_read_strictly(line, reason):
    with pytest.raises(BadAd, match=reason) as caught:
        list(long.read([b"Cmd = 1\n", line, b"B = 2\n"], strict=True))
    assert caught.value.line == 2


@pytest.mark.parametrize("line, reason", BAD_LINES)
def test_a_bad_line_is_reported_and_the_rest_goes_on(line, reason):
    said = []
    stream = io.BytesIO(b"A1 = 1\n" + line + b"B = 2\n\nC = 3\n")
    ads = list(forms.read(stream, "long", on_error=said.append))
    assert ads == [Ad({"A1": 1, "B": 2}), Ad({"C": 3})]
    assert [error.line for error in said] == [2]
    assert reason in said[0].reason


def test_ads_end_at_empty_lines_banners_and_hyphens():
    text = "# file\nA = 1\n\n\nA = 2\n*** Offset = 9\nA = 3\n-----\nA = 4\n\N{EM DASH}\nA = 5"
    ads = forms.read_text(text)
    assert [ad["A"] for ad in ads] == [1, 2, 3, 4, 5]
    assert [ad.line for ad in ads] == [2, 5, 7, 9, 11]


def test_of_names_that_differ_in_case_the_last_counts():
    [ad] = forms.read_text("Owner = 1\nOWNER = 2\n")
    assert dict(ad) == {"OWNER": 2}
    assert ad["owner"] == 2


def test_bytes_that_are_no_utf_8_are_latin_1_where_one_is_lenient():
    assert list(long.read([b'A = "caf\xe9"\n'])) == [Ad({"A": "café"})]


def test_json_tells_an_expression_by_its_escaped_slashes():
    text = r'{"a": "\/Expr(b + 1)\/", "c": "/Expr(d)/", "e": "say \"\/Expr(x)\/", "f": null}'
    [ad] = forms.read_text(text)
    assert ad == Ad({"a": plain("b + 1"), "c": "/Expr(d)/", "e": 'say "/Expr(x)/', "f": UNDEFINED})


def test_json_that_other_tools_wrote_anew_can_be_read_on_request():
    from sssjob.classads import as_json

    text = json.dumps({"a": "/Expr(b + 1)/"}).encode()
    assert list(as_json.read(io.BytesIO(text), unescaped=True)) == [Ad({"a": plain("b + 1")})]


STREAMS = [
    pytest.param("json", '{"a": 1}\n{"a": 2}\n', id="JSON objects, one a line"),
    pytest.param("json", '[\n{"a": 1}\n,\n{"a": 2}\n]\n', id="JSON array"),
    pytest.param("json", '[\n{"a": 1}\n]\n[\n{"a": 2}\n]\n', id="JSON arrays"),
    pytest.param("new", "[ a = 1 ]\n[ a = 2; ]\n", id="new ads"),
    pytest.param("new", "{\n[ a = 1 ]\n,\n[ a = 2 ]\n}\n", id="list of new ads"),
    pytest.param("new", "// two ads\n[ a = 1 ] /* { */ [ a = 2 ]", id="comments between"),
    pytest.param("xml", '<classads><c><a n="a"><i>1</i></a></c>'
                 '<c><a n="a"><i>2</i></a></c></classads>',
                 id="XML"),
    pytest.param("long", "a = 1\n\na = 2\n", id="long"),
]  # fmt: skip


@pytest.mark.parametrize("form, text", STREAMS)
def test_the_beginning_tells_the_form(form, text):
    assert [ad["a"] for ad in forms.read_text(text)] == [1, 2]
    assert [ad["a"] for ad in forms.read_text(text, form)] == [1, 2]


BAD_STREAMS = [
    pytest.param('{"a": 1', "the end in the middle", id="half an object"),
    pytest.param('[{"a": tru}]', "no JSON", id="no JSON"),
    pytest.param('[{"a": 1}] x', "'x' stands where an ad is expected", id="rubbish between"),
    pytest.param('{"a": "\\ud800"}', "lone surrogate", id="lone surrogate"),
    pytest.param('{"a": 1e999999}', "does not fit a real", id="too large a real"),
    pytest.param('{"a": NaN}', "NaN is no number of JSON", id="NaN"),
    pytest.param('{"a": 99999999999999999999}', "64 bits", id="too large an integer"),
    pytest.param('{"a": ' * 99_999, "the end in the middle", id="deep and open JSON"),
    pytest.param('{"a":' * 5000 + "1" + "}" * 5000, "levels deep", id="deep JSON"),
    pytest.param("[ a = 1", "the end in the middle", id="half a new ad"),
    pytest.param('[ a = "open ]', "the end in the middle", id="open string"),
    pytest.param("[ a = 1 } ", "closes what", id="wrong bracket"),
    pytest.param("[ a = 1 ] b", "'b' stands where an ad is expected", id="rubbish after"),
    pytest.param("<classads><c>", "no XML", id="half a document"),
    pytest.param("<jobs/>", "where <classads> is expected", id="other XML"),
    pytest.param('<c><a n="a"><i>x</i></a></c>', "no integer", id="no integer"),
    pytest.param('<c><a n="a"><q/></a></c>', "<q>", id="unknown kind"),
    pytest.param("<c><b/></c>", "no attribute", id="no attribute"),
    pytest.param('<!DOCTYPE c [<!ENTITY e "x">]><c><a n="a"><s>&e;</s></a></c>', "entity",
                 id="entity"),
    pytest.param(f'<c><a n="a">{"<l>" * 99}{"</l>" * 99}</a></c>', "levels deep", id="deep XML"),
]  # fmt: skip


@pytest.mark.parametrize("text, reason", BAD_STREAMS)
def test_what_is_no_ad_is_refused_with_its_reason_and_reported_where_that_is_wanted(text, reason):
    with pytest.raises(BadAd, match=reason):
        forms.read_text(text)
    said = []
    list(forms.read(io.BytesIO(text.encode()), on_error=said.append))
    assert any(reason in error.reason for error in said)


def test_an_external_document_type_is_never_fetched(tmp_path):
    target = tmp_path / "classads.dtd"
    target.write_text('<!ENTITY e "fetched">')
    text = f'<!DOCTYPE c SYSTEM "{target}"><c><a n="a"><s>&e;</s></a></c>'
    with pytest.raises(BadAd):
        forms.read_text(text)


def test_a_stream_is_read_ad_by_ad():
    class Endless(io.RawIOBase):
        """Ads without end: whoever reads all of it never comes back."""

        def readable(self):
            return True

        def readinto(self, buffer):
            text = b'{"a": 1}\n' * (len(buffer) // 9)
            buffer[: len(text)] = text
            return len(text)

    ads = forms.read(io.BufferedReader(Endless()), "json")
    assert [next(ads)["a"] for _ in range(100_000)] == [1] * 100_000


def test_one_bad_ad_is_left_out_and_the_others_are_read():
    said = []
    text = b'[{"a": 1},\n{"a": "\\ud800"},\n{"a": 3}]'
    assert [ad["a"] for ad in forms.read(io.BytesIO(text), on_error=said.append)] == [1, 3]
    assert [error.line for error in said] == [2]


def test_lazy_expressions_are_parsed_when_they_are_asked():
    [ad] = long.read([b"Requirements = (a &&\n"], lazy=True)
    held = ad["Requirements"]
    assert isinstance(held, Unparsed)
    assert evaluate.attribute(ad, "Requirements") is ERROR
    assert long.write(ad) == "Requirements = (a &&\n"


def test_the_reader_sorts_as_htcondor_does_for_its_hooks():
    assert long.write(Ad({"b": 1, "A": 2}), ordered=True) == "A = 2\nb = 1\n"


@pytest.mark.parametrize("text", ["", "abc", "1_0", "1.5.2", "\u0663"])
def test_a_real_of_xml_that_is_no_number_is_told_plainly(text):
    source = f"<classads><c><a n='A'><r>{text}</r></a></c></classads>".encode()
    told = []
    list(forms.read(io.BytesIO(source), on_error=told.append))
    assert [each.reason for each in told] == [f"{text!r} is no number"]


@pytest.mark.parametrize("text", ["", "abc", "1_0", "\u0663", "\u00b2", "--1", "+-1", "1 0", "0x1"])
def test_a_whole_number_of_xml_that_is_none_is_told_plainly(text):
    source = f"<classads><c><a n='A'><i>{text}</i></a></c></classads>".encode()
    told = []
    list(forms.read(io.BytesIO(source), on_error=told.append))
    assert [each.reason for each in told] == [f"{text!r} is no integer"]
