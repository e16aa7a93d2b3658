"""Rows of a ledger for tests, and what a ledger has of them."""

import sssjob
from sssjob.ledger import columns

JOB = "<Job><Id>{0}</Id>{1}</Job>"


def run(number, machine="c", submit=1, start=None, end=None, wall=None):
    """The row of a run."""
    told = {"SubmitTime": submit, "StartTime": start, "EndTime": end, "Duration": wall}
    parts = [f"<{name}>{each}</{name}>" for name, each in told.items() if each is not None]
    place = f"<Machine>{machine}</Machine>" if machine else ""
    return columns.row(sssjob.loads(JOB.format(number, place + "".join(parts))), "log", 1)


def runs(kept):
    names = "id, machine, submit_time, start_time, end_time, wall_seconds"
    with kept.connected() as connection:
        return connection.execute(f"SELECT {names} FROM usage ORDER BY ALL").fetchall()


FIRST = run(7, start=5, end=9, wall=4)
