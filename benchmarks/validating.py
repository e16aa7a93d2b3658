"""How fast documents are checked by schema and all rules, against xmllint with the schema alone.

The second corpus has a notice in every job, so that each of them is walked; xmllint reads the
same. xmllint needs an element for the wrapper, which the schema has not: a schema around it does.
"""

import shutil
from pathlib import Path

from _generate import DATA, corpus
from _measure import Case, compare, options, sssjob

from sssjob import resources

AROUND = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
  <xs:include schemaLocation="{}"/>
  <xs:element name="Jobs"><xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">
    <xs:element ref="Job"/><xs:element ref="JobGroup"/>
  </xs:choice></xs:complexType></xs:element>
</xs:schema>
"""


def around() -> Path:
    """A schema for a wrapper with job objects."""
    path = DATA / "around.xsd"
    path.write_text(AROUND.format(resources.schema("sssjob").as_uri()))
    return path


def noticed(jobs: Path) -> Path:
    """The same jobs, but each writes a Boolean as one is read and not written."""
    path = jobs.with_name(f"noticed-{jobs.name}")
    if not path.exists():
        told = "<Interactive>0</Interactive></Job>"
        with jobs.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
            out.writelines(line.replace("</Job>", told) for line in lines)
    return path


if __name__ == "__main__":
    if shutil.which("xmllint") is None:
        raise SystemExit("xmllint is not installed (Debian: libxml2-utils)")
    chosen = options("Checking a stream of jobs", count=100_000).parse_args()
    jobs = corpus(chosen.count)
    walked = noticed(jobs)
    xmllint = ("xmllint", "--noout", "--stream", "--schema", str(around()))
    cases = [
        Case("xmllint --stream --schema", (*xmllint, str(jobs))),
        Case("sssjob validate", sssjob("validate", jobs), aim=2.3),
        Case("xmllint, a notice in every job", (*xmllint, str(walked))),
        Case("sssjob validate, the same", sssjob("validate", "--quiet", walked)),
    ]
    compare(cases, chosen)
