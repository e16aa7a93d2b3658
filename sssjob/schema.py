"""The lists of ``schemas/sssjob.xsd``, made from the tables: ``make tables``.

The file says by hand what an XML Schema needs beside the tables: how a container counts its Id,
and the data types of section 2.2. Between its marks stand the lists of elements, attributes and
words. They are made here, of the rows of ``spec``, so that no name is written twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import indent
from xml.sax.saxutils import escape, quoteattr

from sssjob import outputs, resources, spec

_BLOCK = re.compile(
    r"(?P<begin> *<!-- made from the tables: (?P<name>[\w ]+) -->\n)"
    r".*?(?P<end> *<!-- end of (?P=name) -->\n)",
    re.DOTALL,
)

# The groups of elements, each with its table and what its comment says of it.
_GROUPS = (
    ("JobGroupProperties", "Table 1", "Table 1: simple job group properties."),
    ("JobProperties", "Table 2", "Table 2: simple job properties."),
    ("StructuredProperties", "5.1", "The structured properties of section 5.1."),
    ("Credentials", "Table 3", "Table 3: credential job properties."),
    ("ConsumableResources", "Table 4", "Table 4: simple consumable resources."),
    ("TaskGroupProperties", "Table 6", "Table 6: simple task group properties."),
    ("TaskProperties", "Table 7", "Table 7: simple task properties, and Process of section 1.3."),
    ("EnvironmentProperties", "Environment", "What Environment holds (SSS 5.1 Environment)."),
    ("ImplicitTaskGroup", "3.0", "For the one task group of a job that has none (SSS 3.0)."),
)
_GROUP_OF = {table: group for group, table, _ in _GROUPS}
_COUNTED = ("JobGroup", "Job", "TaskGroup", "Task")  # have defaults elements of like content

# Types that several elements share, by the first of them that the tables print.
_SHARED_TYPES = {"Disk": "Amount", "Processors": "Count"}
_LIMITS = ", ".join(name for name, _, _ in spec.RESOURCE_LIMITS)
_NOTES = {
    "Amount": "MB is meant where units are omitted, except for Network.",
    "OutputFile": "Without a name, the queuing system chooses one.",
    "ResourceLimit": f"Names are open; known are {_LIMITS}.",
}
_LENT = {
    "Everywhere": ("*", "What to do with what is not understood. xml:* and xsi:* always are."),
    "RequestedProperty": ("Requested/*", "What a property inherits from Requested (SSS 8.1)."),
    "DeliveredProperty": ("Delivered/*", "What a property inherits from Delivered (SSS 8.2)."),
}
_CONSUMABLE = "ConsumableResource"
_KINDS = (spec.STRING, spec.INTEGER, spec.FLOAT, spec.BOOLEAN, spec.DATETIME, spec.DURATION)


def made(text: str) -> str:
    """The text of a schema with what stands between its marks made anew."""
    return _BLOCK.sub(_filled, text)


def _filled(found: re.Match[str]) -> str:
    lines = _MAKERS[found["name"]]().rstrip("\n")
    return f"{found['begin']}{indent(lines, '  ')}\n{found['end']}"


# --- groups of elements ----------------------------------------------------------------------


def _contents() -> str:
    """What stands in a container besides its Id and, in a JobGroup, its jobs."""
    return "".join(
        _group(
            f"In{name}",
            (
                *(f'<xs:group ref="{_GROUP_OF[table]}"/>' for table in spec.CONTAINER[name].tables),
                *(
                    f'<xs:element name="{held}" type="{held}"/>'
                    if held in (spec.REQUESTED, spec.DELIVERED)
                    else f'<xs:element ref="{held}"/>'
                    for held, wildcard in spec.blocks(name).items()
                    if wildcard != "+"
                ),
            ),
        )
        for name in _COUNTED
    )


def _ids() -> str:
    """The Id of each container, which it places by itself."""
    made_of = ((name, spec.properties(name)["Id"]) for name in _COUNTED)
    return "".join(_group(f"{name}Id", _elements((row,)), of="sequence") for name, row in made_of)


def _tables() -> str:
    return "".join(_group(name, _elements(_placed(table)), note) for name, table, note in _GROUPS)


def _placed(table: str) -> list[spec.Element]:
    """The rows of a table that no earlier table of the same container has, without Id."""
    earlier = {
        row.name
        for container in spec.CONTAINERS
        if table in container.tables
        for other in container.tables[: container.tables.index(table)]
        for row in spec.TABLES[other]
    }
    return [row for row in spec.TABLES[table] if row.name not in earlier | {"Id"}]


def _categories() -> str:
    return "".join(
        _group(
            f"{category}Properties",
            _elements(spec.properties(category).values(), category),
            f"What the tables mark {category[0]}, in their order.",
        )
        for category in (spec.REQUESTED, spec.DELIVERED)
    )


def _group(name: str, members: Iterable[str], note: str = "", of: str = "choice") -> str:
    lines = "".join(f"    {member}\n" for member in members)
    comment = f"  {_comment(note)}\n" if note else ""
    return f'<xs:group name="{name}">\n{comment}  <xs:{of}>\n{lines}  </xs:{of}>\n</xs:group>\n\n'


def _elements(rows: Iterable[spec.Element], category: str = "") -> list[str]:
    """A declaration of each property, with its comment where it is no part of a category."""
    told = [(f'"{row.name}"', f'"{category}{_type(row, category)}"', row) for row in rows]
    names, types = (max(len(each[place]) for each in told) for place in (0, 1))
    return [
        f"<xs:element name={name:{names}} type={kind:{types}}"
        + ("/>" if category else f">{_comment(_told(row))}</xs:element>")
        for name, kind, row in told
    ]


def _told(row: spec.Element | spec.Attribute) -> str:
    omitted = row.default if isinstance(row, spec.Attribute) else ""
    default = f'; "{omitted}" if it is omitted' if omitted else ""
    return (
        f"{row.description}{default} ({row.section}; {row.appearance}, support {row.compliance})."
    )


# --- types -----------------------------------------------------------------------------------


def _own(name: str) -> tuple[spec.Attribute, ...]:
    """The attributes that an element has of itself, wherever it stands."""
    return tuple(row for row in spec.ATTRIBUTES if name in row.on)


def _type(row: spec.Element, category: str = "") -> str:
    """The type of a property; in a category, its name without the category in front."""
    if row.name in spec.CONTAINER or row.name == "NotificationList":
        return row.name
    if not (own := _own(row.name)):
        return row.type if category else f"{row.type}Property"
    first = next(
        other.name
        for table in spec.TABLES.values()
        for other in table
        if other.type == row.type and _own(other.name) == own
    )
    return _SHARED_TYPES.get(first, first)


def _structured() -> str:
    """A type for all elements that have the same data type and the same attributes."""
    users: dict[str, list[spec.Element]] = {}
    for table in spec.TABLES.values():
        for row in table:
            if _own(row.name) and row not in users.setdefault(_type(row), []):
                users[_type(row)].append(row)
    return "\n".join(_structure(name, rows) for name, rows in users.items())


def _structure(name: str, rows: list[spec.Element]) -> str:
    names = list(dict.fromkeys(row.name for row in rows))
    note = f"For {', '.join(names)}. " if names != [name] else ""
    attributes = list(_attributes(_own(rows[0].name)))
    comment = _comment(f"{note}{_NOTES.get(name, '')}".strip())
    body = [comment] if comment else []
    if name in spec.CONTAINER:
        body += (
            "<xs:sequence>",
            f'  <xs:group ref="{name}Properties" minOccurs="0" maxOccurs="unbounded"/>',
            "</xs:sequence>",
            *attributes,
            '<xs:attributeGroup ref="Everywhere"/>',
        )
    else:
        base, more = f"{rows[0].type}Property", []
        if name == "NotificationList":
            base, more = "Notifications", ['<xs:attributeGroup ref="Everywhere"/>']
        body += (
            "<xs:simpleContent>",
            f'  <xs:extension base="{base}">',
            *(f"    {line}" for line in (*attributes, *more)),
            "  </xs:extension>",
            "</xs:simpleContent>",
        )
    lines = "".join(f"  {line}\n" for line in body)
    return f'<xs:complexType name="{name}">\n{lines}</xs:complexType>\n'


def _plain_types() -> str:
    """The data types with the attributes that every element may have."""
    return "".join(_extended(f"{kind}Property", kind, "Everywhere") for kind in _KINDS)


def _category_types() -> str:
    """The types of what a category holds: those of the properties, with what it lends."""
    lines = []
    for category in (spec.REQUESTED, spec.DELIVERED):
        rows = spec.properties(category).values()
        bases = dict.fromkeys((_type(row, category), _type(row)) for row in rows)
        lines += [
            _extended(f"{category}{kind}", base, f"{category}Property") for kind, base in bases
        ]
    return "".join(lines)


def _extended(name: str, base: str, group: str) -> str:
    return (
        f'<xs:complexType name="{name}"><xs:simpleContent><xs:extension base="{base}">'
        f'<xs:attributeGroup ref="{group}"/>'
        "</xs:extension></xs:simpleContent></xs:complexType>\n"
    )


# --- attributes ------------------------------------------------------------------------------


def _shared() -> str:
    """The groups of attributes that many elements share."""
    blocks = []
    for name, (place, note) in _LENT.items():
        lines = [_comment(note), *_attributes(row for row in spec.ATTRIBUTES if place in row.on)]
        if place == "*":
            spaces = (
                "http://www.w3.org/XML/1998/namespace http://www.w3.org/2001/XMLSchema-instance"
            )
            lines.append(f'<xs:anyAttribute namespace="{spaces}" processContents="skip"/>')
        blocks.append((name, lines))
    consumables = [row for row in _own("Disk") if _is_shared(row)]
    blocks.append((_CONSUMABLE, list(_attributes(consumables, grouped=False))))
    return "\n".join(
        f'<xs:attributeGroup name="{name}">\n'
        + "".join(f"  {line}\n" for line in lines)
        + "</xs:attributeGroup>\n"
        for name, lines in blocks
    )


def _is_shared(row: spec.Attribute) -> bool:
    """Whether an attribute is one of all consumable resources."""
    return {consumable.name for consumable in spec.CONSUMABLES} <= set(row.on)


def _attributes(rows: Iterable[spec.Attribute], *, grouped: bool = True) -> Iterator[str]:
    """The declarations of attributes, line by line; those of resources as their group."""
    told = False
    for row in rows:
        if grouped and _is_shared(row):
            if not told:
                yield f'<xs:attributeGroup ref="{_CONSUMABLE}"/>'
            told = True
            continue
        use = ' use="required"' if row.appearance == spec.MUST else ""
        kind = "" if row.values else f' type="{row.type}"'
        yield f'<xs:attribute name="{row.name}"{kind}{use}>'
        yield f"  {_comment(_told(row))}"
        yield from (f"  {line}" for line in _vocabulary(row))
        yield "</xs:attribute>"


def _vocabulary(row: spec.Attribute) -> Iterator[str]:
    if not row.values:
        return
    yield "<xs:simpleType>"
    if row.words:
        yield from (f"  {line}" for line in _words(row.values))
    else:
        yield f'  <xs:restriction base="{row.type}">'
        yield from (f"    <xs:enumeration value={quoteattr(value)}/>" for value in row.values)
        yield "  </xs:restriction>"
    yield "</xs:simpleType>"


def _notifications() -> str:
    lines = "".join(f"  {line}\n" for line in _words(spec.NOTIFICATIONS))
    return f'<xs:simpleType name="Notifications">\n{lines}</xs:simpleType>\n'


def _words(values: tuple[str, ...]) -> tuple[str, ...]:
    """A restriction to a list of these words, with commas between them."""
    word = f"({'|'.join(values)})" if len(values) > 1 else values[0]
    return (
        '<xs:restriction base="Words">',
        f'  <xs:pattern value="({word}( ?, ?{word})*)?"/>',
        "</xs:restriction>",
    )


def _comment(text: str) -> str:
    if not text:
        return ""
    return f"<xs:annotation><xs:documentation>{escape(text)}</xs:documentation></xs:annotation>"


_MAKERS = {
    "contents": _contents,
    "ids": _ids,
    "tables": _tables,
    "categories": _categories,
    "types of categories": _category_types,
    "types of properties": _plain_types,
    "words": _notifications,
    "structured properties": _structured,
    "attributes": _shared,
}


if __name__ == "__main__":
    place = resources.schema("sssjob")
    renewed = made(place.read_text("utf-8")).encode()
    with outputs.writing(place) as stream:
        stream.write(renewed)
