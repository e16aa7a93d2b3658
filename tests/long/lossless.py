"""A long run of what tests/document/test_document.py tries: documents changed, compared by C14N.

    python tests/long/lossless.py [DOCUMENTS [SEED]]

Each document has one property of its first job exchanged, and one added and taken away again. What
is left of it without that property has to be equal in the canonical form of libxml2, comments
included; and a document that nothing was done to, in each byte.
"""

import sys
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "document"))

from test_document import blank, first_only, without

from sssjob import Document
from sssjob.model import Property

NOTES = "<!-- <Id>0</Id> -->", "<?pi <Job>?>", "<!---->"
BLANKS = "", "", " ", "\n  ", "\r\n\t"
PIECES = "a", "7", "&amp;", "<![CDATA[<b>]]>", "é", "&#10;", "<!-- c -->"
NAMES = "Name", "State", "User", "UserId", "Memory", "p:own", "Phase", "StartTime", "Network"
NAMES += "requestedNodes", "wallclockLimit"
MARKS = "", "", ' units="GB"', " units = 'MB'", ' p:T="p:U"', ' xmlns:q="urn:q"'
PROLOGS = "", '<?xml version="1.0"?>\n', "<!-- p -->", '<?xml version="1.0" encoding="ISO-8859-1"?>'


def prop(random):
    name = random.choice(NAMES)
    text = "".join(random.choices(PIECES, k=random.randrange(4)))
    return f"<{name}{random.choice(MARKS)}>{text}</{name}>"


def content(random):
    kind = random.randrange(8)
    if kind == 0:
        return random.choice(NOTES)
    if kind == 1:
        return "<Hold/>"
    if kind == 2:
        name, between = (
            random.choice(("Requested", "Delivered", "Extension")),
            random.choice(BLANKS),
        )
        return f"<{name}>{between}{prop(random)}{between}{content(random)}</{name}>"
    return prop(random)


def job(random):
    between = random.choice(BLANKS)
    inside = "".join(between + content(random) for _ in range(random.randrange(6)))
    return f"<Job{random.choice(MARKS)}><Id>1</Id>{inside}{between}</Job>"


def message(random):
    prolog, between = random.choice(PROLOGS), random.choice(BLANKS)
    text = f"{prolog}<Data xmlns:p='urn:p'>{between}{job(random)}{between}{job(random)}</Data>"
    return text.encode("latin-1" if "ISO" in prolog else "utf-8")


def is_moved(job):
    """Whether an older name of the job, or of what it holds, became part of another element."""
    return b"requestedNodes" in job or b"wallclockLimit" in job


def try_one(data, random):
    """Whether a change could be told from everything else, which then has to be the same."""
    document = Document.read(data)
    assert bytes(document.replacing(lambda job: job)) == data
    job = document.blocks[0]
    places = [n for n, item in enumerate(job.items) if isinstance(item, Property)]
    place = random.choice(places)
    old = job.items[place]
    text = "new & <value>" if old.name != "Network" else "42"  # with a text, it is an adapter
    new = Property(old.name, text, old.attributes, (), old.namespace)
    changed = replace(job, items=(*job.items[:place], new, *job.items[place + 1 :]))
    edited = document.replacing(first_only(lambda job: changed))
    assert edited.blocks == (changed, *document.blocks[1:])
    longer = replace(job, items=(*job.items[:place], Property("Quote", "q"), *job.items[place:]))
    added = document.replacing(first_only(lambda job: longer))
    assert added.blocks == (longer, *document.blocks[1:])
    if is_moved(data):
        return False
    assert without(edited.data, place) == without(document.data, place)
    assert blank(added.replacing(first_only(lambda _: job)).data) == blank(data)
    return True


def main(count=100_000, seed=1):
    random = Random(seed)
    compared = sum(try_one(message(random), random) for _ in range(count))
    print(f"{count} documents, none lost anything; {compared} compared by C14N, seed {seed}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
