"""Requests of the jobs and task groups that the user named, for the commands that ask them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sssjob.cli import common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sssjob.errors import Finding
    from sssjob.verbs.match import NamedRequest


def requests(
    files: tuple[str, ...],
    select: str | None,
    on_error: common.Complain,
    nodes: Sequence[str] = (),
) -> Iterator[NamedRequest]:
    """The requests of jobs with their defaults applied, or of what was selected.

    What is worth saying about each request is said on standard error; ``nodes`` are names over
    which its patterns are tried.
    """
    from sssjob.cli.selection import chosen
    from sssjob.verbs import match

    def tell(found: Finding) -> None:
        common.print_findings((found,))

    for item in chosen(files, select, on_error):
        yield from match.requests(item.block, item.file, tell, paths=item.paths, nodes=nodes)
