"""Where the command begins: ``sssjob`` and ``python -m sssjob``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; what has to be quick comes before anything is imported that takes time."""
    if sys.argv[1:] == ["--version"]:
        from sssjob._version import __version__

        print(f"sssjob {__version__}")
        return
    if sys.argv[1:2] == ["condor"] and sys.argv[2:3]:
        from sssjob.systems.condor.hooks.settings import HOOKS

        if sys.argv[2] in HOOKS:  # which start for every job, and so without click
            from sssjob.systems.condor.hooks.programs import main as hook

            if (status := hook(sys.argv[2:])) is not None:
                sys.exit(status)
    import gc

    # What commands make is seldom a circle: to look for some less often takes no more memory.
    gc.set_threshold(10_000, 20, 20)
    from sssjob.cli import main as run

    run()


if __name__ == "__main__":
    main()
