"""Questions of strangers take so much memory and time, and the next one is answered."""
# ruff: noqa: E501 (a row of a table is a line)

import threading

import pytest

from sssjob.errors import BadSheet, LimitExceeded, NotAQuery, UnreadableDocument
from sssjob.verbs.confined import Bounds, Confined

JOB = b"<Job><Id>1</Id><User>amy</User></Job>"
# A second of a processor is hundreds of times what a question takes that is not greedy.
SMALL = Bounds(memory=1 << 27, seconds=1, deadline=900)
GREEDY = {
    "memory": "fold-left(1 to 1000, 'a', function($a, $b) {concat($a, $a)})",
    "memory of many": "count((1 to 1000)!(1 to 1000)!(1 to 1000))",
    "memory of constants": "string-length(string-join((1 to 10000)!string-join((1 to 10000)!'aaaaaaaaaa')))",
    "time, sorting": "count(for $x in 1 to 900 return sort((1 to 900000)))",
    "time, distinct": "count(distinct-values(for $x in 1 to 900000 return $x mod 450000))",
    "time, folding": "fold-left(1 to 900000, 0, function($a, $b) {$a + $b})",
    "time, filters": "count((1 to 900000)[. mod 2 = 0][. mod 3 = 0])",
}
SHEET = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:template name="a"><xsl:param name="n"/><xsl:if test="$n &gt; 0">
<xsl:call-template name="a"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>
<xsl:call-template name="a"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>
</xsl:if></xsl:template>
<xsl:template match="/"><xsl:call-template name="a"><xsl:with-param name="n" select="60"/>
</xsl:call-template></xsl:template></xsl:stylesheet>"""


@pytest.fixture(scope="module")
def confined():
    with Confined(SMALL) as found:
        yield found


@pytest.mark.parametrize("expression", GREEDY.values(), ids=GREEDY)
def test_a_greedy_question_is_stopped_and_the_next_one_answered(confined, expression):
    with pytest.raises(
        LimitExceeded, match=r"more than (1 seconds of a processor|128 MiB of memory)"
    ):
        confined.find(expression, JOB, version="3.1")
    [found] = confined.find("//Id", JOB, version="3.1")
    assert found == ("1", 1, "1", "/Job/Id")


def test_a_sheet_without_end_is_stopped(confined, tmp_path):
    (tmp_path / "endless.xsl").write_text(SHEET)
    with pytest.raises(LimitExceeded):
        confined.transform(str(tmp_path / "endless.xsl"), JOB)
    assert b"<Id>1</Id>" in confined.transform("to-3.1.0", JOB)


def test_errors_are_those_of_the_question(confined):
    with pytest.raises(NotAQuery):
        confined.find("//Job[", JOB)
    with pytest.raises(UnreadableDocument):
        confined.find("//Job", b"<Job>")
    with pytest.raises(BadSheet):
        confined.transform("no-such", JOB)


def test_it_works_beside_threads(confined):
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with Confined(SMALL) as here:
            assert here.find("count(//Job)", JOB)[0].value == 1
    finally:
        done.set()
        other.join()
