"""Ten queries of a store, against SQL by hand on its columns and libxml2 on a whole tree.

All in one process: what a gateway pays for a query. The yardstick of a query is SQL that answers
its texts, or its number, from the same columns in the same order, read by the same driver. BaseX
evaluates them too, where it is installed (comparing untyped numbers as text, as XQuery does).
Every answer of ours is compared with that of libxml2. The tree takes 8 KB a job: a million jobs
are asked with --no-tree, and then our answers are compared with those of SQL.
"""

import argparse
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from _generate import DATA, EPOCH, corpus
from _measure import options
from lxml import etree

from sssjob import store
from sssjob.query import compile
from sssjob.query.match import number
from sssjob.store import Store

AIM = 3.0  # times SQL by hand
POINT = 0.2  # milliseconds for one document by its Id
TREE = 20.0  # times faster than libxml2 on a whole tree
BASEX = 5.0
SCAN = 1.2  # times batched parse and compiled XPath
BATCH = 200
SHORT = 0.004  # seconds of a round at least


@dataclass(frozen=True)
class Case:
    """A query, and the SQL that answers it by hand from the columns."""

    name: str
    query: str
    sql: str

    @property
    def shown(self) -> str:
        """Which rows are asked, in the order in which they are answered."""
        order = "" if self.sql.startswith(("SELECT count", "SELECT sum")) else " ORDER BY document"
        return f"{self.sql}{order}"


# fmt: off
CASES = (
    Case("point lookup",  "//Job[Id='PBS.4711.0']/Id",
         "SELECT id FROM job WHERE id = 'PBS.4711.0'"),
    Case("number range",  "//Job[Charge > 21000000]/Id",
         "SELECT id FROM job WHERE charge > 21000000"),
    Case("prefix",        "//Job[starts-with(Name, 'Heavy')]/Id",
         "SELECT id FROM job WHERE name >= 'Heavy' AND name < 'Heavz'"),
    Case("over request",  "//Job[Delivered/Duration > Requested/Duration]/Id",
         "SELECT id FROM job WHERE delivered_duration > requested_duration"),
    Case("over memory",   "//Job[Delivered/Memory >= Requested/Memory]/Id",
         "SELECT id FROM job WHERE delivered_memory >= requested_memory"),
    Case("user, state",   "//Job[User='amy' and State='Failed']/Id",
         "SELECT id FROM job WHERE user = 'amy' AND state = 'Failed'"),
    Case("count",         "count(//Job[State='Completed'])",
         "SELECT count(*) FROM job WHERE state = 'Completed'"),
    Case("sum",           "sum(//Job[Project='climate']/Charge)",
         "SELECT sum(charge) FROM job WHERE project = 'climate'"),
    Case("task group",    "//Job[TaskGroup/Task/Node='n17']/Id",
         "SELECT id FROM job WHERE task_group_task_node >= char(31) "
         "AND task_group_task_node < ' ' AND instr(task_group_task_node, 'n17') > 0"),
    Case("dependency",    "//Job[Dependency='PBS.480.0']/Id",
         "SELECT id FROM job WHERE dependency = 'PBS.480.0'"),
    Case("window, attribute",
         f"//Job[StartTime >= {EPOCH + 20_000} and StartTime < {EPOCH + 22_000} "
         "and Delivered/Memory/@metric='Average']/Id",
         f"SELECT id FROM job WHERE start_time >= {EPOCH + 20_000} "
         f"AND start_time < {EPOCH + 22_000} AND delivered_memory_metric = 'Average'"),
)
# fmt: on


@dataclass(frozen=True)
class Result:
    """One query: milliseconds of each way, the median of some rounds; None where it did not run."""

    name: str
    hits: int
    ours: float
    sql: float
    tree: float | None
    basex: float | None
    opened: int


class Measured(NamedTuple):
    """All queries; milliseconds of one document by its Id; microseconds of a scan and its bound."""

    queries: list[Result]
    point: float
    scan: tuple[float, float] | None


def jobs(count: int) -> Iterator[bytes]:
    """The jobs of the corpus, some of them with task groups and with dependencies."""
    with corpus(count).open("rb") as lines:
        for place, line in enumerate(lines):
            if line.startswith(b"<Job>"):
                extra = (
                    b"<Dependency>PBS.%d.0</Dependency>" % (place - 1) if place % 16 == 1 else b""
                )
                if place % 32 == 2:
                    nodes = (b"n%d" % (place % 61), b"n%d" % (place % 67))
                    tasks = b"".join(b"<Task><Node>%s</Node></Task>" % node for node in nodes)
                    extra += b"<TaskGroup><Name>all</Name>%s</TaskGroup>" % tasks
                yield line.strip().removesuffix(b"</Job>") + extra + b"</Job>\n"


def prepared(count: int) -> tuple[Path, Path]:
    """The file of the jobs, and the store of the same jobs; kept for the next run."""
    DATA.mkdir(exist_ok=True)
    source, target = DATA / f"queries-{count}.xml", DATA / f"queries-{count}.db"
    if not source.exists():
        with source.with_suffix(".part").open("wb") as out:
            out.write(b"<Jobs>\n")
            out.writelines(jobs(count))
            out.write(b"</Jobs>\n")
        source.with_suffix(".part").rename(source)
    if not target.exists():
        part = target.with_suffix(".part")
        part.unlink(missing_ok=True)
        with store.open(part, create=True) as made:
            made.load(source)
        part.rename(target)
    store.upgrade(target)  # it may have been kept by an older sssjob
    return source, target


def timed(ask: Callable[[], list[str]], rounds: int) -> tuple[float, list[str]]:
    """The median of milliseconds of CPU of some rounds, after one that warms, and the answer.

    A round asks as often as fills some milliseconds: a clock cannot tell one short answer.
    """
    answer, taken = ask(), []
    started = time.process_time()
    ask()
    times = max(1, min(200, int(SHORT / (time.process_time() - started + 1e-6))))
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(times):
            ask()
        taken.append((time.process_time() - started) / times * 1000)
    return statistics.median(taken), answer


def by_store(opened: Store, expression: str) -> Callable[[], list[str]]:
    """Our answer: the texts that are found."""
    query = compile(expression)
    return lambda: [match.text for match in opened.run(query, places=False)]


def by_sql(path: Path, statement: str) -> Callable[[], list[str]]:
    """The answer by hand, from a connection that is kept."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.execute("PRAGMA cache_size = -32768")

    def ask() -> list[str]:
        found = [value for (value,) in connection.execute(statement)]
        return [value if isinstance(value, str) else number(float(value)) for value in found]

    return ask


def by_tree(root: etree._Element, expression: str) -> Callable[[], list[str]]:
    """The answer of libxml2 on a tree of all jobs, by the axis that is not quadratic."""
    found = etree.XPath(expression.replace("//Job", "/descendant::Job"), smart_strings=False)

    def ask() -> list[str]:
        answer = found(root)
        if isinstance(answer, list):
            return [item.text or "" for item in answer]
        return [number(answer)]

    return ask


def by_basex(command: str, source: Path, expression: str) -> float:
    """Milliseconds in which BaseX evaluates the query and prints it, by its own clock.

    It evaluates while it prints, so that the two belong together.
    """
    database = source.stem
    query = expression if expression.startswith(("count", "sum")) else f"({expression})/string()"
    subprocess.run([command, "-c", f"CHECK {source}"], capture_output=True, check=True)
    said = subprocess.run(
        [command, "-V", "-r5", "-i", database, query], capture_output=True, check=True, text=True
    )
    lines = (said.stdout + said.stderr).splitlines()
    return sum(
        float(line.split()[1]) for line in lines if line.startswith(("Evaluating:", "Printing:"))
    )


def scanned(opened: Store, documents: list[bytes]) -> tuple[float, float]:
    """CPU microseconds a job of a query that no column helps, and of its yardstick.

    That is batches of documents parsed, and a compiled expression asked of each batch.
    """
    query = compile("//Job[Arguments='-k 0' and Shell]/Id")
    started = time.process_time()
    list(opened.run(query, places=False))
    ours = time.process_time() - started
    bare = etree.XPath("/*/Job[Arguments='-k 0' and Shell]/Id", smart_strings=False)
    started = time.process_time()
    for place in range(0, len(documents), BATCH):
        bare(etree.fromstring(b"<a>" + b"".join(documents[place : place + BATCH]) + b"</a>"))
    yardstick = time.process_time() - started
    return ours / len(documents) * 1e6, yardstick / len(documents) * 1e6


def measured(chosen: argparse.Namespace) -> Measured:
    """Every query in every way."""
    source, target = prepared(chosen.count)
    root = None
    if chosen.tree:
        root = etree.parse(str(source), etree.XMLParser(huge_tree=True)).getroot()
    command = shutil.which("basex")
    found = []
    with store.open(target, read_only=True) as opened:
        for case in CASES:
            trace = store.Trace()
            list(opened.run(compile(case.query), places=False, trace=trace))
            ours, answer = timed(by_store(opened, case.query), chosen.rounds)
            sql, by_hand = timed(by_sql(target, case.shown), chosen.rounds)
            tree = None
            if root is not None:
                tree, expected = timed(by_tree(root, case.query), 3)
                if answer != expected:
                    raise SystemExit(f"{case.name}: not what libxml2 finds")
            if by_hand != answer:
                raise SystemExit(f"{case.name}: not what SQL by hand finds")
            basex = by_basex(command, source, case.query) if command else None
            found.append(Result(case.name, len(answer), ours, sql, tree, basex, trace.opened))
        whole = compile("//Job[Id='PBS.4711.0']")
        point, _ = timed(lambda: [match.xml for match in opened.run(whole)], 50)
        sample = [each.document for each in islice(opened.documents(), 100_000)]
        scan = scanned(opened, sample) if chosen.count <= len(sample) else None
    return Measured(found, point, scan)


def _peer(theirs: float | None, ours: float) -> str:
    return f"{'':17}" if theirs is None else f"{theirs:9.1f} {theirs / ours:6.0f}x"


def main() -> None:
    """Compare."""
    parser = options(__doc__ or "", count=100_000, rounds=9)
    parser.add_argument("--no-tree", dest="tree", action="store_false", help="leave out the tree")
    chosen = parser.parse_args()
    found, point, scan = measured(chosen)
    if chosen.json:
        queries = [asdict(each) for each in found]
        print(json.dumps({"queries": queries, "point_ms": point, "scan_us": scan}))
    else:
        names = ("hits", "ours ms", "SQL ms", "ratio", "tree ms", "", "BaseX ms", "", "opened")
        widths = (7, 9, 9, 6, 9, 7, 9, 7, 7)
        print(" " * 18, *(name.rjust(width) for name, width in zip(names, widths, strict=True)))
        for each in found:
            print(
                f"{each.name:18} {each.hits:7} {each.ours:9.3f} {each.sql:9.3f} "
                f"{each.ours / each.sql:6.2f} {_peer(each.tree, each.ours)} "
                f"{_peer(each.basex, each.ours)} {each.opened:7}"
            )
        print(f"A job by its Id, with its document: {point:.3f} ms (aim {POINT}).")
        if scan is not None:
            print(
                f"No column helps: {scan[0]:.1f} us of CPU a job, {scan[0] / scan[1]:.2f} times "
                f"batched parse and compiled XPath (aim {SCAN})."
            )
    missed = [
        each.name
        for each in found
        if each.opened
        or (each.tree is not None and each.tree < TREE * each.ours)
        or (each.sql > 0.05 and each.ours > AIM * each.sql)
        or (each.basex is not None and each.basex < BASEX * each.ours)
    ]
    if chosen.strict and (missed or point > POINT):
        sys.exit(f"missed: {', '.join(missed) or 'the point lookup'}")


if __name__ == "__main__":
    main()
