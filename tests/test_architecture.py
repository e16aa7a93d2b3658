"""The house holds: imports go down, and the command starts without the world."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Ask the command for its version as the shell does, then say what was imported on the way.
ASK_VERSION = """
import sys
from sssjob.__main__ import main
sys.argv = ["sssjob", "--version"]
try:
    main()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_imports_keep_to_the_floors():
    linter = Path(sys.executable).with_name("lint-imports")
    result = run(linter, "--no-cache", "--config", ROOT / "pyproject.toml")
    assert result.returncode == 0, result.stdout


def test_the_version_is_told_without_importing_trees_or_colours():
    result = run(sys.executable, "-c", ASK_VERSION)
    imported = {name.partition(".")[0] for name in result.stderr.split()}
    assert result.returncode == 0, result.stderr
    assert "0.1.0" in result.stdout
    assert "sssjob" in imported
    assert not imported & {"click", "lxml", "rich", "zstandard"}
