"""Answers as HTML, from templates in which every text of a job is shown and none is markup."""

from __future__ import annotations

import hashlib
import io
import json as plain_json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from http import HTTPStatus
from itertools import islice
from typing import Any

import markupsafe
import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response, StreamingResponse

from sssjob import units
from sssjob.drawing import chart, graph_svg
from sssjob.store.browsing import ValueKind, texts
from sssjob.visible import Markup, visible
from sssjob.web.highlight import highlighted, plain
from sssjob.web.problems import MEDIA_TYPE, HTTPProblem


def _hashed(style: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


# Nothing runs, nothing comes from elsewhere, and of styles only ours and those of our pictures.
POLICY = "; ".join((
    "default-src 'none'",
    f"style-src 'self' {_hashed(chart.STYLE)} {_hashed(graph_svg.STYLE)}",
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
))  # fmt: skip
_NOT_STATED = "–"
_PARQUET = "application/vnd.apache.parquet"
_ROWS = 50_000  # of one piece of a long table, which is held in memory


def page(template: str, status: int = 200, /, **values: object) -> HTMLResponse:
    """A page from a template."""
    text = _templates().get_template(template).render(values)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def json(value: object, status: int = 200, media_type: str = "application/json") -> Response:
    """A value as JSON; what JSON does not have, as an infinite number, is null."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a whole number of more than 64 bits, as a question in XPath may give
        finite = plain_json.loads(plain_json.dumps(value), parse_constant=lambda name: None)
        text = plain_json.dumps(finite, indent=2).encode() + b"\n"
    return Response(text, status, media_type=media_type)


def line(value: object) -> bytes:
    """A value as a line of JSON."""
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def parquet(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
    """A table in Parquet: columns of numbers where all their values are, else of texts.

    Raises ``HTTPException`` (501) without its library.
    """
    pa, pq = _arrow()
    whole = [*rows]
    columns = [*zip(*whole, strict=True)] if whole else [()] * len(heads)
    arrays = [_array(pa, column) for column in columns]
    made = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, _told_apart(heads)), made, compression="zstd")
    return Response(made.getvalue().to_pybytes(), media_type=_PARQUET)


def parquet_of(
    heads: Sequence[tuple[str, type]], rows: Iterable[Sequence[object]]
) -> StreamingResponse:  # fmt: skip
    """A long table in Parquet, sent while its rows come; a column is of int, float or str.

    Raises ``HTTPException`` (501) without its library.
    """
    pa, pq = _arrow()
    types = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    names = _told_apart([name for name, _ in heads])
    fields = pa.schema([(name, types[kind]) for name, (_, kind) in zip(names, heads, strict=True)])

    def pieces() -> Iterator[bytes]:
        sink, coming = _Sink(), iter(rows)
        with pq.ParquetWriter(sink, fields, compression="zstd") as writer:
            while some := [*islice(coming, _ROWS)]:
                columns = zip(*some, strict=True)
                arrays = [
                    pa.array([None if each is None else _as(kind, each) for each in column], type)
                    for column, (_, kind), type in zip(columns, heads, fields.types, strict=True)
                ]
                writer.write_batch(pa.record_batch(arrays, schema=fields))
                yield sink.taken()
        yield sink.taken()

    return StreamingResponse(pieces(), media_type=_PARQUET)


class _Sink(io.RawIOBase):
    """Where a file is written whose bytes go on at once; it knows how many there were."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes, self._before = bytearray(), 0

    def writable(self) -> bool:
        """It is written to."""
        return True

    def write(self, data: Any, /) -> int:
        """Take some bytes."""
        self._bytes += data
        return len(data)

    def tell(self) -> int:
        """How many bytes there were."""
        return self._before + len(self._bytes)

    def taken(self) -> bytes:
        """The bytes since the last time."""
        found = bytes(self._bytes)
        self._before += len(found)
        self._bytes.clear()
        return found


def _arrow() -> tuple[Any, Any]:
    """The library of Parquet. Raises ``HTTPException`` (501) without it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        said = "Parquet needs pyarrow: pip install 'sssjob[parquet]'"
        raise HTTPException(HTTPStatus.NOT_IMPLEMENTED, said) from None
    return pa, pq


def _told_apart(heads: Sequence[str]) -> list[str]:
    return [
        f"{head}_{place}" if head in heads[:place] else head for place, head in enumerate(heads)
    ]


def _as(kind: type, value: object) -> object:
    """A value of a column; no text has what UTF-8 cannot hold."""
    return str(value).encode("utf-8", "replace").decode() if kind is str else kind(value)


def _array(pa: Any, values: Sequence[object]) -> Any:
    """A column of Arrow."""
    stated = [each for each in values if each is not None]
    if stated and all(type(each) is int and abs(each) < 1 << 63 for each in stated):
        return pa.array(values, pa.int64())
    if stated and all(type(each) in (int, float) for each in stated):
        numbers = [None if each is None else float(str(each)) for each in values]
        return pa.array(numbers, pa.float64())
    texts = [None if each is None else str(each).encode("utf-8", "replace") for each in values]
    return pa.array([each if each is None else each.decode() for each in texts], pa.string())


def problem(asked: HTTPConnection, found: HTTPProblem) -> Response:
    """What went wrong: a page for who asked for one, else problem details."""
    path = asked.url.path
    wants = asked.headers.get("accept", "")
    is_data = "." in path.rpartition("/")[2] or ("json" in wants and "html" not in wants)
    if is_data or "html" not in wants:
        return json(found.as_dict(path), found.status, MEDIA_TYPE)
    return page("problem.html", found.status, problem=found)


def cell(value: str | float | None, kind: ValueKind) -> str:
    """A value of a column as people read it."""
    if value is None:
        return _NOT_STATED
    if isinstance(value, str):
        return ", ".join(texts(value))
    if kind is ValueKind.DURATION and 0 <= value < 1e12:
        return units.clock(int(value))
    if kind is ValueKind.TIME and 0 <= value < 1e12:
        return _time(int(value))[:-3]  # a column of seconds would make the table wide
    if kind is ValueKind.BYTES and 0 <= value < 1e18:
        return units.size(int(value))
    return f"{value:.15g}"


def _time(seconds: int) -> str:
    return units.iso(seconds).replace("T", " ").removesuffix("Z")


def _shown(value: object) -> object:
    """A value on its way into a page: pictures stay, and texts show what would hide in them."""
    if isinstance(value, Markup):
        return markupsafe.Markup(value)  # noqa: S704  # it is markup that nobody else made
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value)
    return value


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("sssjob.web"), autoescape=True, finalize=_shown,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"lines": plain, "cell": cell, "time": _time, "highlighted": highlighted}
    return made
