"""The table of docs/translate.md about 8 GB of a job is what is written."""

from pathlib import Path

import pytest
from translated import requested, wrapped

from sssjob.document import loads
from sssjob.translate import Settings, translate

PAGE = Path(__file__).parents[2] / "docs" / "translate.md"
SYSTEMS = ("sbatch", "pbs", "torque", "sge", "lsf", "condor")
ROWS = {"on 2 nodes": "<NodeCount>2</NodeCount>", "of 4 tasks, on nodes that nobody counts": ""}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("target", SYSTEMS)
def test_memory_on_the_page_is_what_is_written(target, row):
    (line,) = [each for each in PAGE.read_text().splitlines() if each.startswith(f"| {row} |")]
    cell = line.strip("| ").split(" | ")[1 + SYSTEMS.index(target)].strip("`")
    tasks = "" if ROWS[row] else "<TaskCount>4</TaskCount>"
    inner = tasks + requested(f'{ROWS[row]}<Memory units="GB">8</Memory>')
    assert cell in translate(loads(wrapped(inner)), target, Settings(residual=False)).text
