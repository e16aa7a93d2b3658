"""How long the command takes to start: `sssjob --version` against Python doing nothing."""

from _measure import Case, compare, options, program, sssjob

# click alone is some 3.8 times an empty Python; trees and colours would make it 6.6.
CASES = (
    Case("python -c pass", program("pass")),
    Case("sssjob --version", sssjob("--version"), aim=2.5),
    Case("import click", program("import click")),
    Case("sssjob query --help", sssjob("query", "--help"), aim=6),
    Case("import what --version leaves out", program("import click, lxml.etree, rich.console")),
)

if __name__ == "__main__":
    compare(CASES, options(__doc__, rounds=20).parse_args())
