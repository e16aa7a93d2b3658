"""How fast job objects are read: streamed, each handed out in turn, against a bare loop."""

from _generate import corpus
from _measure import Case, compare, options, program

BARE = """
import sys
from lxml import etree
count = 0
for _, element in etree.iterparse(sys.argv[1], tag=("Job", "JobGroup")):
    count += 1
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]
print(count)
"""
OURS = """
import sys
from sssjob.document import tree
print(sum(1 for _ in tree.units(sys.argv[1])))
"""

if __name__ == "__main__":
    chosen = options("Reading a stream of jobs", count=100_000).parse_args()
    wrapped, lines = corpus(chosen.count), corpus(chosen.count, wrapped=False)
    cases = [
        Case("bare lxml.iterparse", program(BARE, wrapped)),
        Case("document.tree.units", program(OURS, wrapped), aim=1.15),
        Case("the same, one document a line", program(OURS, lines)),
    ]
    compare(cases, chosen)
