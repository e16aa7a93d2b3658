"""Generated SSSRMAP messages: everything that the values can hold."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import strategies as st
from strategies import TEXT

from sssjob.rmap import codes
from sssjob.rmap.message import (
    Conj,
    Data,
    DataDocument,
    File,
    Get,
    Object,
    Op,
    Option,
    Request,
    Response,
    Row,
    Set,
    Status,
    Where,
)

NAME = st.text("abcXYZ_é", min_size=1, max_size=8)
WORD = st.text(st.sampled_from("abc &<>\"'é\u20ac"), min_size=1, max_size=8).map(
    lambda text: text.strip() or "x"
)
ELEMENT = st.from_regex(r"[A-Z][A-Za-z]{0,7}", fullmatch=True)
MAYBE = st.one_of(st.just(""), WORD)

ROWS = st.builds(Row, ELEMENT, st.lists(st.tuples(ELEMENT, TEXT), max_size=4).map(tuple))
DOCUMENTS = st.sampled_from([
    DataDocument(b"<Job><Id>1</Id><Requested><Memory op=\"GE\">5</Memory></Requested></Job>"),
    DataDocument(b'<JobGroup xmlns="urn:x"><Job/></JobGroup>'),
    DataDocument("<Job>é<Name>x</Name></Job>".encode()),
])  # fmt: skip
DATA = st.builds(
    Data, st.lists(ROWS | DOCUMENTS, min_size=1, max_size=4).map(tuple), name=MAYBE, type=MAYBE
)
FILES = st.lists(st.builds(File, TEXT, MAYBE), max_size=2).map(tuple)


def many(strategy):
    return st.lists(strategy, max_size=3).map(tuple)


def balanced(wheres):
    """The same conditions, with groups that are closed where they are open."""
    found, depth = [], 0
    for place, where in enumerate(wheres):
        group = max(where.group, -depth) if place < len(wheres) - 1 else -depth
        depth += group
        found.append(replace(where, group=group))
    return tuple(found)


REQUESTS = st.builds(
    Request,
    action=WORD,
    actor=WORD,
    objects=st.lists(st.builds(Object, WORD, MAYBE, MAYBE), min_size=1, max_size=3).map(tuple),
    gets=many(st.builds(Get, WORD, MAYBE, MAYBE, MAYBE, MAYBE)),
    sets=many(st.builds(Set, WORD, TEXT, st.sampled_from(["Assign", "Inc", "Dec"]))),
    wheres=many(
        st.builds(
            Where, WORD, TEXT, st.sampled_from(Op), st.sampled_from(Conj), st.integers(-3, 3),
            MAYBE, MAYBE,
        )
    ).map(lambda wheres: balanced(wheres)),
    options=many(st.builds(Option, WORD, TEXT, MAYBE)),
    data=st.none() | DATA,
    files=FILES,
    chunking=st.booleans(),
    chunk_size=st.integers(0, 10**6),
    id=MAYBE,
    nonce=MAYBE,
    time=st.none() | st.integers(0, 2**40),
)  # fmt: skip
RESPONSES = st.builds(
    Response,
    status=st.builds(Status.of, st.sampled_from(sorted(codes.CODE)), TEXT),
    count=st.none() | st.integers(0, 10**12),
    data=st.none() | DATA,
    files=FILES,
    actor=MAYBE,
    nonce=MAYBE,
).flatmap(
    lambda response: st.sampled_from([(None, None), (1, -1), (7, 0)]).map(
        lambda chunk: Response(
            response.status, response.count, response.data, response.files, response.actor,
            *chunk, response.nonce,
        )
    )
)  # fmt: skip


def pieces(data, cuts):
    """The bytes, cut at some places."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]
