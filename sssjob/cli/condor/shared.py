"""What the commands about ads share: reading ads that the user named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.classads.errors import BadAd
    from sssjob.classads.values import Ad
    from sssjob.systems.condor.why import Evaluate

HTCONDOR = click.option(
    "--htcondor", is_flag=True,
    help="Have HTCondor's own library evaluate: pip install 'sssjob[condor]'.",
)  # fmt: skip
FORMATS = ("long", "new", "json", "xml")


class Ads:
    """The ads of files in any form; ``unread`` counts what could not be read, and was reported."""

    def __init__(self) -> None:
        self.unread = 0

    def read(self, files: tuple[str, ...]) -> Iterator[tuple[str, Ad]]:
        """Each ad with the name of its file."""
        from sssjob.classads import forms
        from sssjob.classads.errors import BadAd
        from sssjob.document.files import opened
        from sssjob.errors import UnreadableDocument

        for given in common.sources(files):

            def report(error: BadAd, name: str = given.name) -> None:
                self.unread += 1
                place = f"{name}:{error.line}" if error.line else name
                common.say_of(name, "error", f"{place}: error: {error.reason}")

            try:
                with opened(given.given) as stream:
                    for ad in forms.read(stream, on_error=report):
                        yield given.name, ad
            except BadAd as error:  # one without end, behind which nothing is looked for
                report(error)
            except OSError as error:
                self.unread += 1
                common.say(f"sssjob: error: {common.reason(error)}")
            except UnreadableDocument as error:  # damaged compressed data
                self.unread += 1
                common.print_findings([error.finding.in_file(given.name)])

    def one(self, file: str) -> Ad:
        """The first ad of a file, or of standard input (``-``); ends the command without one."""
        found = [ad for _, ad in self.read((file,))]
        name = "<stdin>" if file == "-" else file
        if self.unread:
            sys.exit(common.NOT_UNDERSTOOD)
        if len(found) != 1:
            common.fail(f"{common.name_of(name)}: expected one ad, found {len(found)}")
        return found[0]


@contextmanager
def engine(*, htcondor: bool) -> Iterator[Evaluate]:
    """What evaluates expressions: ours, or HTCondor's library as long as the block runs."""
    from sssjob.classads import evaluate
    from sssjob.classads.errors import BadAd

    if not htcondor:
        yield evaluate.evaluate
        return
    from sssjob.classads.library import Library, LibraryFailed

    try:
        with Library() as library:
            yield library.evaluate
    except (ModuleNotFoundError, LibraryFailed, BadAd) as error:
        common.fail(str(error))


def apart(*files: str | None) -> None:
    """End the command if standard input is to be two things at once."""
    if sum(file == "-" for file in files) > 1:
        common.fail("standard input cannot be two ads at once")
