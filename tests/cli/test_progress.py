"""The line that says how far reading has come counts bytes in one kind of units."""

import io

import pytest
from rich.console import Console

from sssjob.cli import progress


@pytest.mark.parametrize(
    "bytes_a_second, shown",
    [
        (None, "?"),
        (0, "?"),
        (0.5, "0 bytes/s"),
        (1023, "1023 bytes/s"),
        (1024, "1.0 KiB/s"),
        (3 * 2**19, "1.5 MiB/s"),
        (2.0**45, "32.0 TiB/s"),
        (2.0**70, "1073741824.0 TiB/s"),
    ],
)
def test_a_speed_is_told_in_the_units_of_sizes(bytes_a_second, shown):
    assert progress.speed(bytes_a_second) == shown


def test_sizes_and_speeds_on_one_line_are_of_one_kind(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "speed", lambda now: "5.0 MiB/s")
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", screen)
    with progress._ProgressBar("jobs.sss", 200_000) as bar:
        bar.show(150_000)
        drawn = Console(file=io.StringIO(), width=100)
        drawn.print(bar._progress.get_renderable())
    shown = drawn.file.getvalue()
    assert "146.5/195.3 KiB 5.0 MiB/s" in shown
