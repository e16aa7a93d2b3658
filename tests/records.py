"""What tests of record formats share: records in, outcomes as lines of text out.

``python tests/records.py NAME FILE`` prints the outcomes of a file, as ``.outcomes`` have them.
"""

import io
import sys
from pathlib import Path

from sssjob.check.findings import check as findings
from sssjob.document import dumps, to_tree
from sssjob.records import jobs
from sssjob.records.record import Bad, Converted, Noted, Options, RecordCounts, Skipped

DATA = Path(__file__).parent / "data"
RECORDS = DATA / "records"


def outcomes(format_name, data, **options):
    """What becomes of each record, as job objects."""
    return list(jobs(format_name, io.BytesIO(data), Options(**options)))


def converted(format_name, data, **options):
    """The jobs alone."""
    found = outcomes(format_name, data, **options)
    return [item.job for item in found if isinstance(item, Converted)]


def told(format_name, data, **options):
    """The outcomes as lines: a document, or the line of the record and what is said of it."""
    return map(as_line, outcomes(format_name, data, **options))


def as_line(outcome):
    """An outcome in one line."""
    match outcome:
        case Converted(job=job):
            return (job if isinstance(job, str) else dumps(job)).replace("\n", "&#10;")
        case Bad(line, text):
            return f"{line}: error: {text}"
        case Skipped(line, text):
            return f"{line}: skipped: {text}"
        case Noted(line, text):
            return f"{line}: {outcome.severity}: {text}"


def counts(format_name, data, **options):
    """The counts of all outcomes."""
    found = RecordCounts()
    for _ in found.counting(outcomes(format_name, data, **options)):
        pass
    return found


def errors(job):
    """What makes the document of a job not valid."""
    return [str(item) for item in findings(to_tree(job)) if item.severity == "error"]


def by_kind(format_name, text):
    """The jobs of a text, what is told, and why others are bad."""
    jobs, told, bad = [], [], []
    for each in outcomes(format_name, text.encode()):
        if isinstance(each, Converted):
            jobs.append(each.job)
        elif isinstance(each, Noted):
            told.append(each.message)
        elif isinstance(each, Bad):
            bad.append(each.reason)
    return jobs, told, bad


if __name__ == "__main__":
    print(*told(sys.argv[1], Path(sys.argv[2]).read_bytes()), sep="\n")
