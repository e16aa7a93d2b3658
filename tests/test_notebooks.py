"""Each notebook of docs/ runs from its first cell to its last, and prints what stands in it."""

import json
import shutil
from pathlib import Path

import pytest
from waiting import HANG

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def told(cell):
    """What a cell prints and shows, in each form."""
    return [(each.get("text"), each.get("data")) for each in cell.get("outputs", [])]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_stands_in_it(path, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TZ", "UTC")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    given, run = (nbformat.read(path, as_version=4) for _ in range(2))
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(run, timeout=HANG, startup_timeout=HANG, resources=place).execute()
    for there, now in zip(given.cells, run.cells, strict=True):
        assert told(now) == told(there), there.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_as_a_person_wrote_it(path):
    """Without the times and numbers that a program adds to each cell when it runs."""
    kept = json.loads(path.read_text("utf-8"))
    nbformat.validate(kept)
    assert [cell["id"] for cell in kept["cells"]] == [
        f"cell-{n}" for n in range(len(kept["cells"]))
    ]
    assert not any(cell["metadata"] for cell in kept["cells"])


def test_there_is_one():
    assert [path.stem for path in NOTEBOOKS] == ["data"]
