"""What reads bytes of strangers, as functions: fuzzing calls them, with examples to begin with.

A parser may refuse its input with an error of our family and with nothing else. A difference is
two ways to read the same input, which have to agree.
"""

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple
from unittest import mock

from sssjob import query, records, registry, spec, store
from sssjob.check import accept
from sssjob.check.sources import check_source
from sssjob.classads import forms, parser
from sssjob.document import canonical, dumps, guesses, slices, tree
from sssjob.document.bridge import from_tree
from sssjob.document.bundle import bundles
from sssjob.document.repair import advise
from sssjob.errors import SSSJobError
from sssjob.expression import offers
from sssjob.lcginfo import config, ldif
from sssjob.model import JobGroup
from sssjob.query import versions
from sssjob.rmap import envelope, framing, gate, reading
from sssjob.rmap.replies import Reply
from sssjob.translate import read as read_jobs

DATA = Path(__file__).parent / "data"
CORPUS = DATA / "fuzz"
LARGEST = 1 << 13  # bytes of an example; larger ones are cut
MOST = 40  # examples of a target besides its corpus


class Target(NamedTuple):
    """A function of bytes, the patterns of files that are good examples, and texts that are."""

    run: Callable[[bytes], object]
    examples: tuple[str, ...]
    texts: tuple[str, ...] = ()

    def seeds(self, name: str) -> Iterator[bytes]:
        """What was kept of former runs, then examples."""
        for file in sorted((CORPUS / name).glob("*")):
            yield file.read_bytes()
        for text_ in self.texts:
            yield text_.encode()
        files = sorted(
            file for pattern in self.examples for file in HOME.glob(pattern) if file.is_file()
        )
        for file in files[:: max(1, len(files) // MOST)]:
            yield file.read_bytes()[:LARGEST]


HOME = Path(__file__).parents[1]
DOCUMENTS = ("tests/data/valid/*.xml", "tests/data/invalid/*.xml", "examples/*.xml")
SCRIPTS = ("examples/translate/*", "tests/data/translate/*", "tests/data/oracles/**/*")


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def drained(each):
    for _ in each:
        pass


def records_of(name, data):
    drained(records.jobs(name, io.BytesIO(data)))


def framed(data):
    found = framing.Requests()
    found.feed(data)
    while (request := found.next()) is not None:
        tried(enveloped, request.body)


def replied(data):
    """What a server answers, with what its documents say."""
    found = Reply()
    for at in range(0, len(data), 100):
        found.feed(data[at : at + 100])
    found.end()
    for document in found.documents():
        tried(enveloped, document)


def enveloped(data):
    """A message of a client or of a server, with whatever it seems to be."""
    gate.weight(data, len(data))
    tried(gate.claims, data)
    if gate.is_encrypted(data):
        tried(gate.encrypted, data)
    body = envelope.opened(data).body
    if body is not None:
        tried(reading.read_request, body)
        reading.read_response(body)


def xpath1(data):
    found = query.compile(text(data))
    return found.streams, found.obstacle


def xpath2(data):
    """A query with what is asked of it before a document is."""
    found = versions.compile(text(data), version="3.1")
    return found.streams, found.obstacle, found.has_one_answer


# What the axes, functions and operators of XPath look like.
EXPRESSIONS = (
    "//Job[User='amy']/Id",
    "count(//Job[Memory > 600])",
    "//Job[2]/@*",
    "sum(.//Processors)",
    "//Job/following-sibling::Job[last()]",
    "string(//Id)",
    "//Job[not(State) or EndTime < 9]",
    "//Node | //Feature",
    "//Job[contains(Name, 'x') and starts-with(Queue, \"q\")]",
    "sum(//Duration) div count(//Job)",
    "//Memory[@units='MB'][. >= sss:bytes('2 GB')]",
    "/JobGroup/Job[position() mod 2 = 1]/descendant-or-self::node()",
)
LATER = (
    "for $j in //Job return string-join(($j/User, $j/Id), ':')",
    "sum([])",
    "[//Id](1)",
    "let $m := map{'a': 1, 'b': [2, 3]} return $m?b?1",
    "array{1 to 3}?*",
    "//Job => count()",
    "some $u in //User satisfies $u = 'amy'",
    "distinct-values(//Queue)",
    "//Id ! xs:integer(.)",
    "if (//Job) then max(//Memory) else ()",
    "sort(//Id, (), function($x) { -$x })",
    "//Job[matches(Name, '^a.*b$', 'i')]",
    "fold-left(1 to 3, 0, function($a, $b) { $a + $b })",
    "//Job except //Job[State]",
    "every $x in //Id satisfies $x instance of element()",
    "reverse(//Job)[1]/Id || 'x'",
    "1 to 3",
    "//Job/(Id, User)",
    "map:keys(map{'x': //Id})",
)


def values(data):
    for element in tree.units(data):
        block = from_tree(element)
        dumps(block)
        canonical.canon(block)


PARSERS = {
    "trees": Target(lambda data: drained(tree.units(data)), DOCUMENTS),
    "slices": Target(lambda data: drained(slices.slices(data)), DOCUMENTS),
    "values": Target(values, DOCUMENTS),
    "check": Target(lambda data: drained(check_source(data)), DOCUMENTS),
    "repair": Target(lambda data: drained(advise(data)), DOCUMENTS),
    "messages": Target(lambda data: drained(bundles(io.BytesIO(data))), DOCUMENTS),
    "query": Target(xpath1, (), EXPRESSIONS),
    "query 3.1": Target(xpath2, (), EXPRESSIONS + LATER),
    "ads": Target(lambda data: drained(forms.read(io.BytesIO(data))), ("tests/data/condor/*",)),
    "ad expression": Target(lambda data: parser.expression(text(data)), ()),
    "offers": Target(lambda data: drained(offers.read(data)), ("examples/requested/*.json",)),
    "LDIF": Target(lambda data: drained(ldif.read(data)), ("examples/lcginfo/*.ldif",)),
    "configuration": Target(lambda data: config.parse(text(data)), ("examples/lcginfo/*.conf",)),
    "requests": Target(framed, ("tests/data/gold/*.c2s.bin",)),
    "replies": Target(replied, ("tests/data/gold/*.s2c.bin",)),
    "envelopes": Target(enveloped, ("tests/data/gold/*.xml",)),
    **{
        f"records {name}": Target(
            partial(records_of, name),
            tuple(
                f"{place}/{name}/**/*" for place in ("tests/data/records", "tests/data/accounting")
            )
            + (("examples/slurm/*", "tests/data/slurm/*") if name == "slurm" else ()),
        )
        for name in registry.all_formats()
    },
    **{
        f"scripts {name}": Target(lambda data, name=name: drained(read_jobs(data, name)), SCRIPTS)
        for name in registry.all_targets()
    },
}


def trees_and_slices(data):
    """A slice is the bytes of a Job or JobGroup of the tree; what else stands there is told."""
    ill, told = [], []
    trees = [from_tree(each) for each in tree.units(data, on_error=ill.append)]
    cut = [
        from_tree(element)
        for each in slices.slices(data, on_error=told.append)
        for element in tree.units(each.document)
    ]
    jobs = [canonical.canon(each) for each in trees if each.name in ("Job", "JobGroup")]
    assert jobs == [canonical.canon(each) for each in cut]
    others = "holds none [E-UNKNOWN]"
    assert [*map(str, ill)] == [each for each in map(str, told) if not each.endswith(others)]


QUERIES = ("//Job/Id", "//Job[Memory > 600]/@*", "count(.//Processors)", "//JobGroup/Job[2]/Id")


def batches_and_units(data):
    """A question is answered for many job objects at once as for each alone."""
    for expression in QUERIES:
        asked = query.compile(expression)
        one, many = [], []
        located = tree.located(data, on_error=one.append)
        alone = [shown(each) for each in asked.of_units(located, False, True, one.append)]
        with mock.patch.object(guesses, "SIZE", 40):
            found = asked.run(io.BytesIO(data), on_error=many.append)
            assert [shown(each) for each in found] == alone
        assert [str(each) for each in many] == [str(each) for each in one]


def shown(match):
    return match.text, match.path, match.line, match.job


def acceptance_and_walk(data):
    """What the grammar accepts, the walk has nothing to say about."""
    found = []
    for worth in (0, 1 << 30):
        with mock.patch.object(accept, "_WORTH_A_GRAMMAR", worth):
            found.append([str(each) for each in check_source(data)])
    assert found[0] == found[1]


def store_and_file(data):
    """What is kept of a file is what stands in it, where no job comes twice, also in groups."""
    cut = [*slices.slices(data, on_error=[].append)]
    units = [from_tree(next(iter(tree.units(each.document)))) for each in cut]
    ids = [each.id for each in units]
    inside = [job.id for each in units if isinstance(each, JobGroup) for job in each.jobs]
    if not all(ids) or len({*ids}) < len(ids) or not {*inside}.isdisjoint(ids):
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "file.xml")
        path.write_bytes(data)
        with store.open(Path(directory, "jobs.db"), create=True) as jobs:
            jobs.load(path, on_error=[].append)
            kept = sorted(each.document for each in jobs.documents())
    assert kept == sorted(each.document for each in cut)


DIFFERENCES = {
    "trees and slices": Target(trees_and_slices, DOCUMENTS),
    "batches and units": Target(batches_and_units, DOCUMENTS),
    "acceptance and walk": Target(acceptance_and_walk, DOCUMENTS),
    "store and file": Target(store_and_file, DOCUMENTS),
}
TARGETS = PARSERS | DIFFERENCES


def tried(run, data):
    """Do something with bytes, which may be refused."""
    with suppress(SSSJobError):
        run(data)


NAMES = sorted({row.name for table in spec.TABLES.values() for row in table})
WORDS = [
    *(f"<{name}>" for name in NAMES), *(f"</{name}>" for name in NAMES),
    *(f' {row.name}="' for row in spec.ATTRIBUTES),
    "<Job>", "</Job>", "<JobGroup>", "<Jobs>", "<!--", "-->", "<![CDATA[", "]]>", "<?x ", "?>",
    "&amp;", "&#0;", "&#x1F600;", "<!DOCTYPE a [", ' xmlns:a="b"', ' xmlns=""', "\0", "\x1b[2J",
    "\u202e", "-1", "0", "1e400", "NaN", "9" * 40, "1.5", "-0", "2016-12-31T23:59:60Z", "PT-1S",
    *"{}[](),:;|=\\'\"\n\t`%*@", "\r\n", "#SBATCH ", "#PBS ", "#$ ", "#BSUB ", "$(", "//", "..",
    "union ", "for $a in ", " return ", "COMPLETED",
]  # fmt: skip
JOINTS = (b"<", b"\n", b"|", b" ", b",", b'"', b"=")


def mutated(data: bytes, chance: Random) -> bytes:
    """The pieces of an input in another order, some of them twice, missing, or another word."""
    joint = chance.choice(JOINTS)
    pieces = data.split(joint)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, other = chance.randrange(len(pieces)), chance.randrange(len(pieces))
        match chance.randrange(7):
            case 0:
                del pieces[at]
            case 1:
                pieces.insert(at, pieces[other])
            case 2:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case 3:
                pieces[at] = chance.choice(WORDS).encode("utf-8", "surrogatepass")
            case 4:
                pieces[at] += chance.choice(WORDS).encode("utf-8", "surrogatepass")
            case 5:
                pieces[at] = pieces[at][: chance.randrange(len(pieces[at]) + 1)]
            case _:
                pieces[at] = pieces[at] + chance.randbytes(1) + pieces[at]
        if not pieces:
            return b""
    return joint.join(pieces)[: 2 * LARGEST]
