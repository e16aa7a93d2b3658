"""Rows made of columns of properties are those that the document of each record has."""

from typing import NamedTuple

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy as np

from sssjob.accounting.document_rows import DocumentRows, DocumentRowsBuilder
from sssjob.model import Property
from sssjob.records.property_columns import job_of
from sssjob.records.record import DELIVERED, JOB, REQUESTED
from sssjob.store.columns import HOT, LONGEST

PLACES = {JOB: "", REQUESTED: REQUESTED, DELIVERED: DELIVERED}
PROPERTIES = [(place, name) for place, block in PLACES.items() for name in HOT[block]]
# What stands where it has no column, or in a column of another place.
PROPERTIES += [(REQUESTED, "Charge"), (DELIVERED, "Id"), (JOB, "Site"), (DELIVERED, "State")]
TEXTS = [
    "amy", "7", "100", "2.50", " ", "  ", " amy", "amy\t", "a b", "\n7", "7 ", "\u00a0", "-1", "7e",
    "1e3", "29.17", "0.1", "007", "12345678901234567890", "NaN", "x" * LONGEST, "x" * (LONGEST + 1),
    " " + "x" * LONGEST, "a&b<c>", "\u2028",
]  # fmt: skip
# Many take one road, and one that is odd among them another.
ALIKE = [["amy", "bob", "a b"], ["7", "100", "3"], ["2.50", "0.1"]]
ATTRIBUTES = [{}, {}, {"units": "MB"}, {"units": "furlong"}, {"metric": "Maximum"}]


class Drawn(NamedTuple):
    """A column of a property: the text of each record, "" for none, and how it is handed over."""

    place: str
    name: str
    attributes: dict[str, str]
    texts: list[str]
    kind: str

    def column(self, builder):
        """The column as the record engine hands it over."""
        if self.kind == "named" and all(self.texts):
            return builder.column(self.name, self.attributes)(self.texts, False)
        make = builder.maker(self.name, self.attributes)
        pieces = [make(text) if text else builder.nothing for text in self.texts]
        if len({*self.texts}) == 1 and self.kind == "same":
            return builder.same(pieces[0], len(pieces))
        if self.kind == "picked":
            return builder.picked(pieces, np.arange(len(pieces)))
        return pieces

    def items(self, at):
        """What a record has of it."""
        text = self.texts[at]
        return [Property.read(self.name, text, self.attributes)] if text else []


@st.composite
def columns(draw, size):
    place, name = draw(st.sampled_from(PROPERTIES))
    usual = st.sampled_from(draw(st.sampled_from(ALIKE)))
    texts = draw(st.lists(usual, min_size=size, max_size=size))
    for at in draw(st.sets(st.integers(0, size - 1), max_size=2)):
        texts[at] = draw(st.sampled_from(TEXTS))
    kind = draw(st.sampled_from(["named", "named", "same", "picked", "list"]))
    if kind == "same":
        texts = texts[:1] * size
    elif kind != "named":
        for at in draw(st.sets(st.integers(0, size - 1))):
            texts[at] = ""
    return Drawn(place, name, draw(st.sampled_from(ATTRIBUTES)), texts, kind)


batches = st.integers(1, 5).flatmap(
    lambda size: st.tuples(st.just(size), st.lists(columns(size), min_size=1, max_size=4))
)


@examples(150)
@given(st.lists(batches, min_size=1, max_size=2))
def test_columns_become_the_rows_of_their_documents(drawn):
    builder = DocumentRowsBuilder()
    for size, told in drawn:
        in_place = [[each for each in told if each.place == place] for place in PLACES]
        made = ([each.column(builder) for each in some] for some in in_place)
        found = builder.jobs(*made, [builder.nothing] * size)
        for at in range(size):
            items = {
                place: [item for each in some for item in each.items(at)]
                for place, some in zip(PLACES, in_place, strict=True)
            }
            wanted = DocumentRows.of(job_of(items))
            assert found[at][1:] == wanted[1:]


@pytest.mark.parametrize("text", ["amy", " ", " amy", "a b", "x" * (LONGEST + 1), "7e", "-1"])
@pytest.mark.parametrize("usual", ["amy", "7"])
def test_so_does_an_odd_text_beside_usual_ones(usual, text):
    for place, name in PROPERTIES:
        drawn = Drawn(place, name, {}, [usual, text, usual], "named")
        builder = DocumentRowsBuilder()
        made = [[drawn.column(builder)] if each == place else [] for each in PLACES]
        found = builder.jobs(*made, [builder.nothing] * 3)
        wanted = [DocumentRows.of(job_of({place: drawn.items(at)})) for at in range(3)]
        assert [*found] == wanted, name
