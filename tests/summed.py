"""What a report of some sources adds up, by the command."""

import csv
import io

from click.testing import CliRunner

from sssjob.cli import sssjob


def call(*words, given=None):
    found = CliRunner().invoke(sssjob, [*map(str, words)], input=given)
    assert found.exit_code == 0, found.output
    return found


def sums(*words, given=None):
    """How many jobs there are, and what they used."""
    printed = call(*words, "--csv", given=given).stdout
    rows = [*csv.DictReader(io.StringIO(printed))]
    return sum(int(row["jobs"]) for row in rows), sum(int(row["wall_seconds"] or 0) for row in rows)
