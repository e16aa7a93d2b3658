"""Where the command begins: ``sssjob`` and ``python -m sssjob``."""

from __future__ import annotations

import sys

from sssjob import standard_output


def main() -> None:
    """Run the command, and see that what it printed is delivered; if not, it ends with 2."""
    status: object = 0
    error = None
    try:
        _run()
    except SystemExit as end:
        status = end.code
    except OSError as failed:  # of --version and of hooks: a command tells its own
        error = failed
    error = standard_output.finish() or error
    if error is None or status not in (None, 0, 1):  # 2 and more: the command has told it
        sys.exit(status)  # type: ignore[arg-type]  # as somebody gave it
    from sssjob.cli import undelivered

    undelivered(error)


def _run() -> None:
    """What has to be quick comes before anything is imported that takes time."""
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
