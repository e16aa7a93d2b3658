"""How fast job objects become values, and values text, against a bare loop over their elements."""

from _generate import corpus
from _measure import Case, compare, options, program
from reading import BARE

READ = """
import sys
from sssjob.document import read
print(sum(1 for _ in read(sys.argv[1])))
"""
BACK = """
import sys
from sssjob.document import read, write
write(read(sys.argv[1]), sys.stdout.buffer)
"""

if __name__ == "__main__":
    chosen = options("Values out of XML and back", count=20_000).parse_args()
    jobs = corpus(chosen.count)
    cases = [
        Case("bare lxml.iterparse", program(BARE, jobs)),
        Case("document.read", program(READ, jobs)),
        Case("document.read and write", program(BACK, jobs)),
    ]
    compare(cases, chosen)
