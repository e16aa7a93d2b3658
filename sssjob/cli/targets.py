"""Jobs in other formats than their own: what ``sssjob convert`` writes, and what was lost."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from sssjob.cli import common
from sssjob.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from sssjob.accounting.writers.losses import UnwrittenValue
    from sssjob.accounting.writers.writer import LossCounts, WriterOptions
    from sssjob.verbs.convert import Conversion, Grown

SHOWN = 20  # kinds of losses that are printed
_FIGURE = re.compile(r"([A-Za-z][\w.-]{0,40})=([0-9]{1,12}(?:\.[0-9]{1,12})?)")


class TargetOptions(NamedTuple):
    """What the user said of the site and of losses."""

    site: str = ""
    submit_host: str = ""
    infrastructure: str = ""
    benchmark: str = ""
    losses: str | None = None

    def options(self) -> WriterOptions:
        """What a writer wants to know."""
        from sssjob.accounting.writers.grid import GRID, GridSite
        from sssjob.accounting.writers.writer import WriterOptions

        figure = _FIGURE.fullmatch(self.benchmark)
        if self.benchmark and not figure:
            common.fail(
                f"--benchmark {self.benchmark}: expected NAME=NUMBER, such as HEPscore23=11.4"
            )
        kind, number = (figure[1], figure[2]) if figure else ("", "")
        infrastructure = self.infrastructure or GRID
        site = GridSite(self.site, self.submit_host, infrastructure, kind, number)
        return WriterOptions(site, int(time.time()))


def _losses(stream: BinaryIO | None) -> LossCounts:
    """What counts losses by kind, and lists them as JSON lines in a stream if there is one."""
    from sssjob.accounting.writers.writer import LossCounts

    if stream is None:
        return LossCounts()

    def listed(loss: UnwrittenValue) -> None:
        stream.write(f"{json.dumps(loss.as_dict(), ensure_ascii=False)}\n".encode())

    return LossCounts(listed)


def _say(losses: LossCounts, target: str) -> None:
    """Print each kind with its number, those that were met most first."""
    for (path, reason), number in losses.kinds.most_common(SHOWN):
        times = "once" if number == 1 else f"{number} times"
        common.say(f"lost in {target}: {visible(path)} {times}: {visible(reason)}")
    if (more := len(losses.kinds) - SHOWN) > 0:
        common.say(f"lost in {target}: {more} more kinds of values")


def append(work: Conversion, target: str, told: TargetOptions, state: Path, output: Path) -> Grown:
    """Append the records of what is new, and say what they could not hold; gives remarks."""
    from sssjob.accounting.writers import TARGETS
    from sssjob.verbs.convert import grown
    from sssjob.verbs.convert_targets import results

    options = told.options()
    with ExitStack() as stack:
        losses = _losses(stack.enter_context(common.output(told.losses)) if told.losses else None)
        row = TARGETS[target]
        remarks = grown(
            work, state, output, row.head or "",
            lambda tasks: results(work, tasks, target, options, losses), row.tail, row.end,
        )  # fmt: skip
    _say(losses, target)
    return remarks


@contextmanager
def _output(path: str | None, *, whole: bool) -> Iterator[BinaryIO]:
    """Where records go; standard output gets the ``whole`` at once, if it is to."""
    if not whole or path not in (None, "-"):
        with common.output(path) as stream:
            yield stream
        return
    from shutil import copyfileobj
    from tempfile import TemporaryFile  # slow to import, and most runs write elsewhere

    with TemporaryFile() as kept:
        yield cast(BinaryIO, kept)
        kept.seek(0)
        with common.output(path) as stream:
            copyfileobj(kept, stream)


def write(work: Conversion, target: str, told: TargetOptions, output: str | None) -> None:
    """Write jobs in a target format, and say what it could not hold."""
    if work.processes > 1:
        from sssjob.verbs.convert_targets import write as written
    else:
        from sssjob.verbs.convert import target as written
    options = told.options()
    with ExitStack() as stack:
        listed = stack.enter_context(common.output(told.losses)) if told.losses else None
        stream = stack.enter_context(_output(output, whole=work.can_begin_anew))
        losses = _losses(listed)
        try:
            written(work, target, stream, options, losses)
        except ImportError as error:
            common.fail(f"--to {target} needs {error.name}: pip install 'sssjob[{target}]'")
    _say(losses, target)
