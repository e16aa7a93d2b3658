"""What a test leaves in the checkout fails the run, also with workers and without git."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from pathlib import Path
import checkout

def pytest_configure(config):
    checkout.watch(config, Path(__file__).parent)
"""


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(
    "body, code, said",
    [
        pytest.param("pass", 0, "", id="clean"),
        pytest.param("(here / '.new').mkdir()", 1, "the tests made .new", id="made"),
        pytest.param("(here / 'old').unlink()", 1, "the tests took away old", id="gone"),
        pytest.param("(here / '__pycache__' / 'x').touch()", 0, "", id="apart"),
    ],
)
def test_what_a_run_leaves_fails_it(tmp_path, workers, body, code, said):
    shutil.copy(Path(__file__).with_name("checkout.py"), tmp_path)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "old").touch()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "test_it.py").write_text(
        f"from pathlib import Path\n\nhere = Path(__file__).parent\n\ndef test_it():\n    {body}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", workers,
         "-p", "no:cacheprovider"],
        # Of what is installed beside it and takes seconds to begin, nothing else.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    assert said in done.stdout
    assert ("not as it was" in done.stdout) == bool(code)
