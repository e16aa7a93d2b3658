"""Where the command begins: ``sssjob`` and ``python -m sssjob``."""

from __future__ import annotations

import sys

from sssjob._version import __version__


def main() -> None:
    """Run the command; its version is told before anything is imported that takes time."""
    if sys.argv[1:] == ["--version"]:
        print(f"sssjob {__version__}")
        return
    from sssjob.cli import main as run

    run()


if __name__ == "__main__":
    main()
