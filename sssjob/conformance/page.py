"""The page docs/conformance.md, made from the tables and the cases: ``make tables``.

What it lists is what ``spec`` holds, and everything in ``spec`` is read, checked and written; so
the page cannot promise what the code does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sssjob import spec, units
from sssjob.conformance.cases import Case, sections
from sssjob.errors import CODES

_TITLES = {
    "Table 1": "Table 1: simple JobGroup properties",
    "Table 2": "Table 2: simple Job properties",
    "5.1": "Structured Job properties (5.1)",
    "Table 3": "Table 3: credentials",
    "Table 4": "Table 4: simple consumable resources",
    "Table 6": "Table 6: simple TaskGroup properties",
    "Table 7": "Table 7: simple Task properties",
    "Environment": "Inside Environment",
}

_HEAD = """\
# Conformance

`sssjob` implements the SSS Job Object Specification 3.1.0 in full: it reads, checks and writes
every element and attribute below, whatever level of compliance the text asks for. The copy of the
text that the project works from has lost the names in its tables; they are restored from its
examples, from the order of the rows, and from what deployed software writes ([decision
1](decisions/standard.md)).

Made from the tables in `sssjob/spec.py` and the cases in `conformance/` by `make tables`; a test
keeps the page in step.

*Appearance* says how often a document must hold a name, *compliance* what an implementation must
support. R and D tell that a property may stand in Requested and in Delivered. *Repeats* tells
whether one set of properties may hold it more than once: attributes named there have to differ.
Older names are read, and written with `--dialect`.
"""


_CASES = """\
## Cases

Each statement of the text is a case in `conformance/`: a document, and what `validate` finds in it,
what `match` decides about offers, or what the effective values are. {tested} of them have a
document. Our tests run them, and so does

```console
$ sssjob conformance | head -3
Status                   0 of   0  Status of this memo, and abstract
1.0                      0 of   0  Introduction
1.1                      0 of   0  Goals
```

`sssjob conformance --export DIR` writes them as XML and JSON, with a README that explains their
form, so that an implementation in any language can be measured by them:

```console
$ sssjob conformance --export cases && ls cases
{tested} cases written to cases
README.md
cases
sections.json
$ cat cases/cases/8.1-10.xml
<Job><Id>1</Id><Requested><Queue>a</Queue><User conj="Or">amy</User></Requested></Job>
$ grep verdict cases/cases/8.1-10.json
        "verdict": "yes",
        "verdict": "yes",
        "verdict": "no",
```

*Choice* marks a case in which the text is silent or contradicts itself: another implementation may
differ there, and should say so. A statement that no document can show is listed with the reason.
"""


def page() -> str:
    """The conformance page in Markdown."""
    return "\n".join((*_sections(), ""))


def _sections() -> Iterator[str]:
    yield _HEAD
    yield "## Elements\n"
    for table, title in _TITLES.items():
        yield f"### {title}\n"
        yield from _table(
            ("Element", "Type", "Appearance", "Compliance", "Categories", "Repeats", "Older names"),
            (_element(row) for row in spec.TABLES[table]),
        )
    yield "### Containers\n"
    yield from _table(
        ("Element", "Holds", "Compliance", "Reference by id", "Section"),
        (
            (row.name, ", ".join(row.holds), row.compliance, _yes(row.reference), row.section)
            for row in spec.CONTAINERS
        ),
    )
    yield "## Attributes\n"
    yield from _table(
        ("Attribute", "On", "Type", "Appearance", "Compliance", "Values", "Default", "Section"),
        (
            (row.name, ", ".join(row.on).replace("*", "\\*"), row.type, row.appearance,
             row.compliance, ", ".join(row.values), row.default, row.section)
            for row in spec.ATTRIBUTES
        ),
    )  # fmt: skip
    yield "## Resource limits\n"
    yield "Names match without regard to case; any other name is kept as it is.\n"
    yield from _table(
        ("Name", "Meaning", "Read too"),
        ((name, meaning, ", ".join(synonyms)) for name, meaning, synonyms in spec.RESOURCE_LIMITS),
    )
    yield "## Units (Appendix A)\n"
    yield from _table(
        ("Unit", "Bytes"),
        ((unit, f"2^{factor.bit_length() - 1}") for unit, factor in units.UNITS.items()),
    )
    yield "## Findings\n"
    yield "E is an error, W a warning, I a notice.\n"
    yield from _table(("Code", "Meaning"), ((code.name, code.meaning) for code in CODES))
    yield from _cases()


def _cases() -> Iterator[str]:
    tested = sum(bool(case.document) for section in sections() for case in section.cases)
    yield _CASES.format(tested=tested)
    yield from _table(
        ("Section", "About", "Cases", "Not tested"),
        (
            (section.name, section.title, str(sum(bool(case.document) for case in section.cases)),
             str(sum(not case.document for case in section.cases) or ""))
            for section in sections()
        ),
    )  # fmt: skip
    for section in sections():
        heading = section.title
        if section.name not in heading:
            heading = f"{section.name}: {heading}"
        yield f"### {heading}\n"
        yield from _table(
            ("Case", "Level", "Statement", "Remark"),
            ((case.id, case.level, case.statement, _remark(case)) for case in section.cases),
        )


def _remark(case: Case) -> str:
    if case.untested:
        return f"Not tested: {case.untested}"
    return f"Choice: {case.choice}" if case.choice else ""


def _element(row: spec.Element) -> tuple[str, ...]:
    repeats = row.repeats if isinstance(row.repeats, bool) else ", ".join(row.repeats)
    older = [alias.name for alias in spec.ALIASES if alias.canonical == row.name]
    return (
        row.name, row.type, row.appearance, row.compliance, row.categories,
        _yes(repeats) if isinstance(repeats, bool) else repeats, ", ".join(older),
    )  # fmt: skip


def _yes(value: bool) -> str:
    return "yes" if value else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


if __name__ == "__main__":
    print(page(), end="")
