"""A run of the tests leaves the checkout as it was: nothing new in it, and nothing gone."""

import os
from fnmatch import fnmatch
from pathlib import Path

import pytest

# What git ignores, and git itself; what Python and tools keep is none of ours.
APART = (
    ".git", ".venv", ".hypothesis", ".*_cache", "__pycache__", "*.egg-info", "*.pyc", "build",
    "dist", "benchmarks/data",
)  # fmt: skip


def paths(root):
    """Every file and directory of a tree, as paths relative to it."""
    found, waiting = set(), [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                path = os.path.relpath(entry.path, root)
                if not any(fnmatch(name, one) for name in (entry.name, path) for one in APART):
                    found.add(path)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return found


class Checkout:
    """Looks at a tree before the first test and behind the last one; what changed is a failure."""

    def __init__(self, root):
        self.root = Path(root)
        self.before = paths(self.root)
        self.said = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        now = paths(self.root)
        self.said += [f"the tests made {path}" for path in sorted(now - self.before)]
        self.said += [f"the tests took away {path}" for path in sorted(self.before - now)]
        if self.said:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.said:
            terminalreporter.section("the checkout is not as it was", red=True)
            for line in self.said:
                terminalreporter.line(line, red=True)


def watch(config, root):
    """Watch a tree, in the process that directs the others."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Checkout(root))
