"""Batch systems that run on this machine are asked for their state, and it reads back."""

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sssjob import registry
from sssjob.lcginfo import lrmsinfo

QUEUES = {name: row.queue for name, row in registry.systems().items() if row.queue}
FORMS = [
    (system, option)
    for system, backend in QUEUES.items()
    for option in ([], ["--text"])[: 2 if backend.ask_text else 1]
]


def works(arguments):
    """Whether a command is there and its batch system answers."""
    found = shutil.which(arguments[0])
    return found and subprocess.run(arguments, capture_output=True, check=False).returncode == 0


@pytest.mark.interop
@pytest.mark.parametrize("system, option", FORMS, ids=lambda value: "".join(value))
def test_a_live_batch_system_becomes_lrmsinfo(system, option):
    backend = QUEUES[system]
    if not works(((option and backend.ask_text) or backend.ask)[0]):
        pytest.skip(f"no {system} runs here")
    command = [
        Path(sys.executable).with_name("sssjob"),
        "lcginfo",
        "lrms",
        "--from",
        system,
        *option,
    ]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    remarks = []
    snapshot = lrmsinfo.read(io.BytesIO(printed), remarks.append)
    assert not remarks
    assert snapshot.nactive is not None
    assert 0 <= snapshot.nfree <= snapshot.nactive
