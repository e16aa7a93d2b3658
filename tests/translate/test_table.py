"""The table of docs/translate.md says what is written, and nothing is lost in silence."""

from pathlib import Path

import pytest
from option_table import ROWS, table
from translated import losses_of, requested, wrapped

from sssjob import registry
from sssjob.document import loads
from sssjob.translate import Settings, translate

PAGE = Path(__file__).parents[2] / "docs" / "translate.md"


def test_the_table_of_the_page_is_what_is_written():
    found = list(table())
    lines = PAGE.read_text().splitlines()
    place = lines.index(found[0])
    assert lines[place : place + len(found)] == found


TARGETS = [name for name, row in registry.all_targets().items() if row.writes and name != "dagman"]
# What is so in any case: nothing has to be said then.
ANYWAY = {
    '<Environment export="true"/>': {"psij"},
    '<Environment export="false"/>': {"pbs", "torque", "sge", "slurmrest"},
    # Who submits is who it is of; that of LSF is another one.
    "<Group>g</Group>": {"sbatch", "pbs", "torque", "sge", "condor", "flux", "flux-canonical"},
    "<Checkpointable>false</Checkpointable>": {*TARGETS},
}
WISH = requested('<Feature preference="-1">ib</Feature>')  # which binds nobody, and is no loss


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_lost_in_silence(target):
    """Each property changes the text, or is told."""
    settings = Settings(residual=False)
    plain = translate(loads(wrapped("")), target, settings).text
    lost = [
        inner for inner in ROWS
        if inner != WISH and target not in ANYWAY.get(inner, ()) and not losses_of(inner, target)
        and translate(loads(wrapped(inner)), target, settings).text == plain
    ]  # fmt: skip
    assert lost == []
