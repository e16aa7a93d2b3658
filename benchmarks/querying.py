"""A query over a stream of jobs against batches parsed by lxml and asked by a compiled XPath."""

from _generate import corpus
from _measure import Case, compare, options, program, sssjob

QUERY = "//Job[Delivered/Processors > 12]/Id"

BATCHES = """
import sys
from lxml import etree

found = etree.XPath("/descendant::Job[Delivered/Processors > 12]/Id", smart_strings=False)

def ask(data):
    for item in found(etree.fromstring(data)):
        sys.stdout.write(item.text + "\\n")

with open(sys.argv[1], "rb") as stream:
    stream.readline()
    rest = b""
    while chunk := stream.read(1 << 18):
        rest += chunk
        cut = rest.rfind(b"\\n<Job>")
        if cut > 0:
            ask(b"<Jobs>" + rest[:cut] + b"</Jobs>")
            rest = rest[cut:]
    ask(b"<Jobs>" + rest)
"""

BARE = """
import sys
from lxml import etree

found = etree.XPath("self::Job[Delivered/Processors > 12]/Id", smart_strings=False)
for _, job in etree.iterparse(sys.argv[1], tag="Job"):
    for item in found(job):
        sys.stdout.write(item.text + "\\n")
    job.clear()
    while job.getprevious() is not None:
        del job.getparent()[0]
"""

WHOLE = """
import sys
from lxml import etree

root = etree.parse(sys.argv[1])
for item in etree.XPath("/descendant::Job[Delivered/Processors > 12]/Id")(root):
    sys.stdout.write(item.text + "\\n")
"""


def main() -> None:
    """Compare."""
    chosen = options(__doc__ or "", count=100_000).parse_args()
    jobs = corpus(chosen.count)
    cases = (
        Case("batches and compiled XPath", program(BATCHES, jobs)),
        Case("sssjob query --workers 1", sssjob("query", "--workers", "1", QUERY, jobs), aim=1.2),
        Case("sssjob query, all cores", sssjob("query", QUERY, jobs)),
        Case("iterparse and compiled XPath", program(BARE, jobs)),
        Case("sssjob query --json", sssjob("query", "--json", QUERY, jobs)),
        Case("whole tree and compiled XPath", program(WHOLE, jobs)),
    )
    compare(cases, chosen)


if __name__ == "__main__":
    main()
