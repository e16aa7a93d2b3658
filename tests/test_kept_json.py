"""JSON that is kept in files: whatever became of a file, its reader answers in its own words."""

import json

import pytest

from sssjob import json_text
from sssjob.accounting.sending import Receipts
from sssjob.errors import DamagedStore, InvalidValue, UnusableInput
from sssjob.features import status
from sssjob.lcginfo import history
from sssjob.ledger import manifest, places
from sssjob.records.state import LogsState

DAMAGE = {
    "depth": "[" * 100_000, "depth of objects": '{"a":' * 50_000, "no finite number": "[1e400, 1]",
    "infinity": "[Infinity, 1]", "no number": "[NaN]", "digits": f"[{'9' * 5000}]",
    "half of it": '{"a": ', "a name twice": '{"a": 1, "a": 2}', "nothing": "", "no UTF-8": "\udcff",
}  # fmt: skip


@pytest.fixture(params=DAMAGE.values(), ids=DAMAGE)
def path(request, tmp_path):
    path = tmp_path / "1.json"
    path.write_text(request.param, "utf-8", "surrogateescape")
    return path


def test_it_is_a_wrong_value(path):
    with pytest.raises(ValueError, match=r"\w"):
        json_text.kept(path.read_bytes())


def test_a_file_of_state_is_none(path):
    with pytest.raises(UnusableInput, match="is no state file"):
        LogsState.read(path)


def test_a_receipt_is_none(path):
    assert Receipts(path).names() == {}


def test_a_status_is_none(path):
    octets = path.read_bytes()
    if octets:  # none was kept
        with pytest.raises(InvalidValue):
            status.loads(octets, "here")


def test_an_answer_of_lcginfo_is_none(path):
    found, bad = history.read(path.parent)
    assert (found, [each.name for each in bad]) == ([], [path.name])


def test_a_manifest_is_none(path, tmp_path):
    home = places.place(str(tmp_path / "ledger"))
    there = manifest.path_of(home, 1)
    there.parent.mkdir(parents=True)
    there.write_bytes(path.read_bytes() + b"\n{}\n")
    with pytest.raises(DamagedStore, match="is torn or was changed"):
        manifest.newest(home)


def test_what_is_as_it_was_written_is_read():
    said = {"a": [1, 2.5, -3], "b": {"c": None, "d": "e"}}
    assert json_text.kept(json.dumps(said)) == said
