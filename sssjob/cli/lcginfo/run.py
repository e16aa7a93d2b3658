"""``sssjob lcginfo run``, or ``lcg-info-dynamic-scheduler``: the LDIF that is published."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

import click

from sssjob import standard_output
from sssjob.cli import common, options
from sssjob.cli.lcginfo import shared
from sssjob.cli.signals import terminable

if TYPE_CHECKING:
    from sssjob.lcginfo.snapshot import Remark

NAME = "lcg-info-dynamic-scheduler"

# The exit codes of the program that this replaces, whatever the other commands of sssjob use.
BAD_OPTIONS, NO_CONFIG, BAD_CONFIG, FAILED = 1, 2, 3, 4


class _Command(click.Command):
    """A command whose bad options end it with the code of the text."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.show()
            sys.exit(BAD_OPTIONS)


class _SystemLog(shared.Log):
    """The log: standard error, and the system's log if that is asked for."""

    def __init__(self, *, system: bool) -> None:
        super().__init__()
        self._system = system

    def __call__(self, remark: Remark) -> None:
        super().__call__(remark)
        self._to_system(f"{remark.severity}: {remark.message}")

    def error(self, message: object) -> None:
        """Say why there is no answer."""
        from sssjob.visible import visible

        common.say(f"{NAME}: error: {visible(str(message))}")
        self._to_system(f"error: {message}")

    def _to_system(self, message: str) -> None:
        if self._system:
            import syslog

            from sssjob.visible import visible

            syslog.openlog(NAME, syslog.LOG_PID, syslog.LOG_DAEMON)
            shown = visible(message).encode("utf-8", "replace").decode("utf-8")
            level = syslog.LOG_ERR if message.startswith("error") else syslog.LOG_WARNING
            syslog.syslog(level, shown)


@click.command(
    cls=_Command,
    epilog="""\b
Examples:
  sssjob lcginfo run -c lcg-info-dynamic-scheduler.conf
  lcg-info-dynamic-scheduler -c lcg-info-dynamic-scheduler.conf > dynamic.ldif

Exit code: 0 published, 1 bad options, 2 no configuration named, 3 it cannot be used, 4 any other
failure. The answer is printed whole or not at all.""",
)
@options.CONFIGURATION
@options.ESTIMATOR
@click.option("--syslog", is_flag=True, help="Log to the system's log, too.")
def command(path: str | None, estimator: str, syslog: bool) -> None:
    """Print what changes in a site's GLUE entries: jobs, free slots and response times.

    The configuration names the static entries; these give the queues and VOs.
    """
    log = _SystemLog(system=syslog)
    if not path:
        log.error("no configuration named; give --config FILE")
        sys.exit(NO_CONFIG)
    # Whoever runs this may lose patience: then the batch system's command ends as well.
    with terminable():
        code, whole = _published(path, estimator, log)
    log.close()
    try:
        if whole:
            sys.stdout.buffer.write(whole)
            sys.stdout.buffer.flush()
    except OSError as error:
        log.error(common.reason(error))
        standard_output.give_up()
        code = FAILED
    sys.exit(code)


def main() -> None:
    """Run the command under its old name."""
    command(prog_name=NAME, help_option_names=["-h", "--help"])


def _published(path: str, estimator: str, log: _SystemLog) -> tuple[int, bytes]:
    """The exit code, and the whole answer or nothing."""
    from sssjob.errors import SSSJobError
    from sssjob.lcginfo import answers, config, publish

    log.name = path
    try:
        loaded = config.load(path, log)
        log.name = "batch system"
        with config.about_file(path):
            site = answers.gather(loaded, log)
        log.name = ""
        targets = publish.targets(loaded, log)
        return 0, publish.text(site, targets, estimator)
    except config.BadConfig as error:
        log.error(error)
        return BAD_CONFIG, b""
    except SSSJobError as error:
        log.error(error)
    except OSError as error:
        log.error(common.reason(error))
    except Exception as error:
        # "anything later" is 4, also what a registered estimator raises that we know nothing of.
        traceback.print_exc()
        log.error(f"{type(error).__name__}: {error}")
    return FAILED, b""
