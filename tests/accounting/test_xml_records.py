# ruff: noqa: E501 (a case is a line)
"""Records are cut out of XML alike, however many bytes of it a stream gives at a time."""

import io
import re

import pytest

from sssjob.errors import UnusableInput
from sssjob.records import xml_records
from sssjob.records.xml_records import CutRecord, RecordTags

FORM = RecordTags("job", re.compile(rb"<(/?)(Job)(?=[\s/>])"), (b"Data",))
ONE, OTHER = b"<Job><Id>1</Id></Job>", b"<Job\n><Id>2</Id></Job >"
LONG = b"x" * 500  # longer than any tag that is looked for


class Slow(io.BytesIO):
    def __init__(self, data, most):
        super().__init__(data)
        self.most = most

    def read(self, size=-1):
        return super().read(min(size, self.most))


def cut(data, most):
    """The records, each with its line, and what ends the input."""
    found = []
    try:
        for each in xml_records.cut(Slow(data, most), FORM, 1):
            assert isinstance(each, CutRecord)
            if each.raw is not None:
                found.append((each.line, each.raw))
    except UnusableInput as error:
        found.append(str(error))
    return found


@pytest.mark.parametrize("most", [1, 2, 7, 64, 1 << 16])
@pytest.mark.parametrize(
    "data, expected",
    [
        pytest.param(ONE + OTHER, [(1, ONE), (1, OTHER)], id="one behind the other"),
        pytest.param(b"<Data>\n%b\n%b\n</Data>" % (ONE, OTHER), [(2, ONE), (3, OTHER)], id="a root"),
        pytest.param(b"<!-- <Job> -->\n" + ONE, [(2, ONE)], id="a tag in a comment"),
        pytest.param(b"<!-- %b\n<Job> -->%b" % (LONG, ONE), [(2, ONE)], id="a long comment"),
        pytest.param(
            b"<Job><!--</Job>--></Job>" + ONE,
            [(1, b"<Job><!--</Job>--></Job>"), (1, ONE)], id="a comment in a record",
        ),
        pytest.param(
            b"<Job><a><![CDATA[%b</Job>]]></a></Job>\n%b" % (LONG, ONE),
            [(1, b"<Job><a><![CDATA[%b</Job>]]></a></Job>" % LONG), (2, ONE)], id="CDATA",
        ),
        pytest.param(b"<!-- " + ONE, [(1, ONE)], id="a comment that has no end is none"),
        pytest.param(
            b"<Job><Id>1</Id>\n" + OTHER,
            [(1, "no </Job> before the next record"), (2, OTHER)], id="a record without an end",
        ),
        pytest.param(
            b"<Data>\n<Id>1</Id></Job>" + OTHER + b"</Data>",
            [(2, "no start tag before </Job>: it is damaged, or missing"), (2, OTHER)],
            id="a record without a beginning",
        ),
        pytest.param(ONE + b"\n<Job>", [(1, ONE), (2, "the input ends before </Job>")], id="cut"),
        pytest.param(
            b"<Data>" + ONE + b"\n", [(1, ONE), (2, "the input ends before </Data>")],
            id="a root that is cut",
        ),
        pytest.param(
            b"\n<!DOCTYPE Data>" + ONE, ["line 2: a document type declaration is not accepted"],
            id="a document type",
        ),
        pytest.param(
            b"<Data><!-- </Data> -->" + ONE, [(1, ONE), (1, "the input ends before </Data>")],
            id="the end of a root in a comment",
        ),
        pytest.param(b"<Jobs/>", ["no job in it"], id="nothing"),
    ],
)  # fmt: skip
def test_records_are_cut_out_alike_however_slowly_they_come(data, expected, most):
    assert cut(data, most) == expected


@pytest.mark.parametrize("before", [b"", b" " * 1000, b" " * 100_000, ONE * 3000])
@pytest.mark.parametrize("more", [-30, -29, 0, 1000, 100_000])
def test_whether_a_record_is_too_long_does_not_depend_on_where_it_stands(before, more):
    record = b"<Job><Id>%s</Id></Job>" % (b"1" * (xml_records.RECORD_LIMIT + more))
    *_, (_, found), (_, other) = cut(before + record + OTHER, 1 << 30)
    is_short = len(record) <= xml_records.RECORD_LIMIT
    assert found == (record if is_short else "a record of more than 1048576 bytes")
    assert other == OTHER
