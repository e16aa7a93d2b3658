"""What fuzzing tries for hours is tried for a moment: its examples, and some changes of each.

`make fuzz` goes on from there.
"""

import hashlib
import re
import subprocess
import sys
from random import Random

import pytest
from fuzz_rule import decoders, reached_apart
from fuzz_target import CORPUS, HOME, tried
from fuzz_targets import PARSERS, TARGETS, mutated

from sssjob import registry

CHANGES = 3  # of each example
EXAMPLES = 40  # of each target that are run to see what it comes to


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_read_or_refused(name):
    target, chance = TARGETS[name], Random(name)
    examples = [*target.seeds(name)]
    assert examples
    for data in (b"", *examples):
        tried(target.run, data)
        for _ in range(CHANGES):
            tried(target.run, mutated(data, chance))


READS = {
    "formats of records": ("records", registry.all_formats),
    "formats of status": ("status", registry.all_status_formats),
    "targets": ("scripts", lambda: [n for n, row in registry.all_targets().items() if row.reads]),
    "queues": ("queue", lambda: [n for n, row in registry.all_systems().items() if row.queue]),
    "caps": ("caps", lambda: [n for n, row in registry.all_systems().items() if row.caps]),
}


@pytest.mark.parametrize("kind, names", READS.values(), ids=READS)
def test_whatever_the_registry_reads_is_a_target(kind, names):
    assert names()
    assert {f"{kind} {name}" for name in names()} <= PARSERS.keys()


# What decodes, and is in no target: why not.
NO_TARGET = {
    "what a gateway or a ledger wrote itself, beside jobs that are in a target": {
        "gateway/forwarding.py": ("_beside", "_hindered", "_noted", "take_over"),
        "gateway/outbox.py": ("Outbox._parcels",),
        "handlers/changes.py": ("_read", "once_elsewhere"),
        "handlers/intended.py": ("_made", "forget", "is_here", "kept", "under_way"),
        "ledger/rollup.py": ("_read",),
        "store/former_notes.py": ("to_ledger",),
        "store/ledger.py": ("StoreLedger.said", "_entry"),
    },
    "what one process of ours says to another": {
        "classads/library.py": ("Library.evaluate", "answer"),
        "workers.py": (
            "Workers._elsewhere", "_failure", "_function", "_unpacked", "answers_of",
        ),
    },
    "files of the distribution, or of who calls": {
        "cli/demo.py": ("_run",), "conformance/cases.py": ("sections",),
        "systems/condor/hooks/site.py": ("called_in",), "transform.py": ("Sheet.load",),
    },
    "what a target, or a reader that is in one, has made of it right before": {
        "document/bridge.py": ("_with_many",), "document/patch.py": ("patched",),
        "systems/condor/accounting/ads.py": ("_leave_numbers",),
        "systems/flux/control.py": ("mark",), "translate/objects.py": ("write_rest",),
    },
    "another road of bytes that are in a target: tests hold both to the same": {
        "document/enclosing.py": ("EnclosingTags.is_sound",),
        "document/guesses.py": ("BareLines.parsed",),
        "document/reader.py": ("joined",), "gateway/large.py": ("_lacks_memory",),
        "records/json_parts.py": ("ObjectCutter._as_read", "ObjectCutter._learnt", "_is_json"),
        "records/tables.py": ("fields",),
    },
}  # fmt: skip


def test_whatever_decodes_what_others_wrote_is_in_a_target():
    """Of the functions that call a parser of JSON, XML, TOML, CSV and the like; other forms of
    strangers' bytes are read by what the registry names."""
    spared = {
        (module, name)
        for rows in NO_TARGET.values() for module, names in rows.items() for name in names
    }  # fmt: skip
    decoding = set(decoders())
    assert len(decoding) > 50
    assert spared <= decoding
    assert decoding - reached_apart(EXAMPLES) == spared


@pytest.mark.parametrize("name", PARSERS)
def test_an_example_of_each_target_is_taken(name):
    target = PARSERS[name]
    assert any(tried(target.run, data) for data in target.seeds(name))


def test_what_was_kept_belongs_to_a_target():
    kept = {each.name for each in CORPUS.iterdir()}
    assert kept
    assert kept <= TARGETS.keys()


BOUND = """
import sys
sys.path[:0] = ["tests", "tests/long"]
import fuzz
from types import SimpleNamespace
from pathlib import Path

fuzz.SLOW, fuzz.MEMORY = 0.5, 64
fuzz.KEPT = fuzz.FOUND = Path(sys.argv[1])
begun = []
target = SimpleNamespace(run=lambda data: begun and {run}, seeds=lambda name: [b"<a>"])
targets = SimpleNamespace(
    TARGETS={{"x y": target}}, tried=lambda run, data: run(data),
    mutated=lambda data, chance: begun.append(1) or data + b"b",
)
sys.exit(not fuzz.apart(fuzz.CHANCE, targets, "x y", 1))
"""
ENDED = {
    "too long": "sum(iter(int, 1))", "too much": "bytes(1 << 28)", "no error of ours": "1 / 0",
}  # fmt: skip


def bound(run, place):
    code = BOUND.format(run=run)
    return subprocess.run(
        [sys.executable, "-c", code, str(place)], cwd=HOME, capture_output=True, check=False
    )


@pytest.mark.parametrize("run", ENDED.values(), ids=ENDED)
def test_an_input_that_takes_too_much_ends_its_target_and_is_kept_by_its_own_name(run, tmp_path):
    (tmp_path / "x-y-former").touch()
    found = bound(run, tmp_path)
    assert found.returncode == 1, found.stderr
    digest = hashlib.sha1(b"<a>b").hexdigest()
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        "x-y-former": b"", f"x-y-{digest}": b"<a>b",
    }  # fmt: skip


def test_a_target_without_a_find_tells_what_its_inputs_took(tmp_path):
    found = bound("None", tmp_path)
    assert (found.returncode, [*tmp_path.iterdir()]) == (0, []), found.stderr
    assert re.fullmatch(rb"x y: \d+ inputs, at most 0\.\d+ s, \d+ MiB\n", found.stdout)
