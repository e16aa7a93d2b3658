"""The queues: states and response times of lcg-info that are kept beside a store."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import Response

from sssjob import units
from sssjob.drawing import stacked
from sssjob.lcginfo import history
from sssjob.lcginfo.answers import ROW, QueueAnswer
from sssjob.lcginfo.history import KeptAnswers
from sssjob.visible import Markup
from sssjob.web import pages
from sssjob.web.parameters import Parameter
from sssjob.web.views import CSV, JSON, PARQUET, PageRequest

_TEXT: dict[str, object] = {"type": "string"}
PARAMETERS = (
    Parameter("queue", "Only this queue.", _TEXT),
    Parameter("vo", "Only this VO.", _TEXT),
)
_HEADS = ("at", *ROW)


def queues(asked: PageRequest) -> Response:
    """The states of queues, now and earlier, of the queue and the VO that were asked for."""
    directory = asked.site.queues
    if directory is None:
        detail = "No queue states are kept here: browse --queues, or queues in [web], names them."
        raise HTTPException(HTTPStatus.NOT_FOUND, detail)
    moments, bad = history.read(directory)
    chosen = {name: value for name, value in asked.given.pairs}
    found = [KeptAnswers(each.at, tuple(_of(each, chosen))) for each in moments]
    lines = [
        (each.at, *row.as_dict().values()) for each in found for row in each.rows
    ]  # the newest first
    if asked.form == JSON:
        told = [dict(zip(_HEADS, line, strict=True)) for line in lines]
        return pages.json({
            "at": moments[0].at if moments else None,
            "queues": [row.as_dict() for row in (found[0].rows if found else ())],
            "history": told, "bad": [each._asdict() for each in bad],
        })  # fmt: skip
    if asked.form in (CSV, PARQUET):
        return asked.data(_HEADS, lines)
    is_one = len(chosen) == len(PARAMETERS)
    return asked.page(
        "queues.html", moments=found, chosen=chosen, is_one=is_one, bad=bad,
        picture=_picture(found) if is_one else None, cells=_cells, asked=asked,
        forms=(JSON, CSV, PARQUET),
    )  # fmt: skip


def _of(moment: KeptAnswers, chosen: dict[str, str]) -> Iterator[QueueAnswer]:
    for row in moment.rows:
        told = row.as_dict()
        if all(told[name] == value for name, value in chosen.items()):
            yield row


def _cells(row: QueueAnswer) -> list[str]:
    """The numbers of a row as people read them."""
    numbers = ("–" if each is None else str(each) for each in (row.running, row.waiting, row.free))
    return [*numbers, *map(_clock, (row.ert, row.wrt))]


def _clock(seconds: int | None) -> str:
    return "–" if seconds is None else units.clock(seconds)


def _picture(moments: list[KeptAnswers]) -> Markup | None:
    """The estimated response time at each moment, the oldest first."""
    told = [
        (each.at, row.ert) for each in reversed(moments) for row in each.rows if row.ert is not None
    ]
    if len(told) < 2:
        return None
    columns = [stacked.StackedColumn(units.iso(at), (ert,), (_clock(ert),)) for at, ert in told]
    most = _clock(max(ert for _, ert in told))
    return stacked.svg("Estimated response time", ("",), columns, most)
