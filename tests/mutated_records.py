"""Records of every format with another text in the place of a value."""

import gzip
import re

from hypothesis import strategies as st
from records import DATA

# fmt: off
SOURCES = {
    "slurm":         ("slurm/22.05/all-steps-epoch.txt", "slurm/quirks/odd.txt",
                      "slurm/quirks/truncated.txt"),
    "pbs":           ("accounting/pbs/quirks/openpbs.txt", "accounting/pbs/quirks/odd.txt"),
    "sge":           ("accounting/sge/8.1.9.txt", "accounting/sge/quirks/versions.txt",
                      "accounting/sge/quirks/slaves.txt"),
    "lsf":           ("accounting/lsf/quirks/texts.txt", "accounting/lsf/quirks/versions.txt"),
    "slurm-jobcomp": ("accounting/slurm-jobcomp/22.05.txt",),
    "blah":          ("records/blah/log.txt",),
    "swf":           ("records/swf/log.txt",),
    "apel":          ("records/apel/individual.txt",),
    "ur":            ("records/ur/plain.xml", "records/ur/odd.xml"),
    "car":           ("records/car/records.xml",),
    "condor":        ("condor/condor_history.long", "records/condor/lines.jsonl"),
    "slurm-json":    ("slurm/24.11/sacct.json.gz", "records/slurm-json/older.json"),
}
LINED = ("slurm", "pbs", "sge", "lsf", "slurm-jobcomp", "blah")  # whose records are lines
GUESSED = ("condor", "slurm-json")  # the guesses of others have tests of their own
ODD = (b"", b" ", b"abc", b"-1", b"0", b"1.5", b"7", b"16?", b"Unknown", b"NONE", b"99999999999999",
       b"\xff", b"RUNNING", b"a:b", b"a|b", b"<&>", b'"',
       b"2026-11-20T14:29:60", b"2026-10-25T01:30:00", b"12:34.5", b"1-00:00:60", b"n[1-3,5]",
       b"n[3-1]", b"4_7", b"4_7_1", b"4.batch", b"512M", b"K",
       b"-l gpu=2 -pe a 4 -l gpu=3", b"1.500000")
# fmt: on
LINES = 40  # that are taken of a file at once
_WORD = re.compile(rb"[^|:;=,\s\"<>]+")


def read(name):
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


READ = {name: read(name) for names in SOURCES.values() for name in names}


@st.composite
def mutated(draw, format_):
    """The begin of a file with other texts in some places."""
    return draw(mutated_text(READ[draw(st.sampled_from(SOURCES[format_]))], format_))


@st.composite
def mutated_text(draw, data, format_):
    """The same of a text."""
    if format_ in LINED:
        data = b"\n".join(data.split(b"\n")[:LINES])
    words = [found.span() for found in _WORD.finditer(data)]
    places = draw(st.lists(st.integers(0, len(words) - 1), min_size=1, max_size=4, unique=True))
    for place in sorted(places, reverse=True):
        begin, end = words[place]
        data = data[:begin] + draw(st.sampled_from(ODD)) + data[end:]
    return data.rstrip(b"\n") + b"\n"
