"""The ledger: what each run of each job used, by the hundred million, for reports.

Files of Parquet in a directory, read by DuckDB, and manifests that say which of them count. How
it works, and why, is told in ``manifest.py``, ``merging.py`` and ``report.py``. It needs the extra
``ledger``.

    runs = ledger.open("usage")
    runs.report("month", "project")
    runs.to_polars("user", "wall_seconds", "ended")
    runs.sql("SELECT user, sum(wall_seconds) AS s FROM usage GROUP BY user").to_arrow()
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from sssjob.addresses import is_object
from sssjob.dotted import loaded, needed
from sssjob.errors import of_kind

if TYPE_CHECKING:
    from sssjob.ledger.tables import Runs

__all__ = ["open"]


def open(home: str | PathLike[str], *, as_of: int | None = None) -> Runs:
    """The runs of the ledger in a directory, or at an address such as ``s3://bucket/usage``;
    ``as_of``: as it was after the commit of that number.

    Raises ``UnusableStore``: there is none, or it cannot be read; ``OtherStore`` for one of a newer
    version; ``InvalidValue`` for what is no name of a directory; and ``ModuleNotFoundError``
    without the extra ``ledger``.
    """
    of_kind(home, str | PathLike, "the directory of a ledger")
    of_kind(as_of, int | None, "the number of a commit")
    source_of = loaded("sssjob.document.files:source_of")
    place = home if isinstance(home, str) and is_object(home) else str(source_of(home))
    for library in ("duckdb", "pyarrow"):
        needed(library, "ledger", "a ledger")
    made: type[Runs] = loaded("sssjob.ledger.tables:Runs")
    found = loaded("sssjob.ledger.places:place")(place)
    return made(loaded("sssjob.ledger.ledger:opened")(found, as_of))
