"""Documents of hostile shape and of any size, and what libxml2 finds in them when it holds all.

Wrappers in wrappers, of a depth that changes in one document; prefixes and default namespaces that
change with them; comments, instructions, CDATA, attributes and Files that hold what looks like the
tags of job objects; jobs of very different sizes; several documents one after the other.
"""
# ruff: noqa: E501 (a row of a table is a line)

from random import Random
from typing import NamedTuple

from lxml import etree

from sssjob import spec

S = spec.NAMESPACE
DECOYS = (
    "<Job>", "</Job>", "<Job/>", "</Data>", "</Data><Data>", "<Job><Id>0</Id></Job>", "</All>", "<File>",
    "<JobGroup>", "</JobGroup>\n", "\n</Job>\n<Job>\n", "</s:Job>", "<?xml version='1.0'?>", "]]", "'\"",
    "</Jobs>\n<Jobs>", "<Data xmlns='urn:other'>", "&", "é", "/>", "</Id>",
)  # fmt: skip
NAMES = "Data", "All", "Jobs", "Body", "Envelope", "Jobs.old", "Job-s", "JobsOf", "File"
PREFIXED = "q:Data", "q:Jobs", "q:Job", "q:JobGroup", "q:File"
ATTRIBUTES = (
    ' a=">"', " a='\"/>'", ' b="&lt;Job>"', " a = '1>2' \n b=\"'\"", ' xml:lang="en"', ' xml:space="preserve"',
    ' actor="a/>b"', " id='&lt;/Data>'",
)  # fmt: skip
SPACES = "", "", "\n", "\n  ", " ", "\r\n", "\t"
STATES = "Idle", "Running", "Completed"
USERS = "amy", "bob", "eve"


class Scope(NamedTuple):
    """What names mean at a place."""

    default: str = ""
    s: str = ""  # what the prefix s means; nothing if it is not declared
    q: str = ""

    @property
    def job_prefix(self):
        """How a job object may begin here, and with what it has to declare."""
        if self.default in spec.NAMESPACES:
            yield "", ""
        else:
            yield "", ' xmlns=""'
        yield "", f' xmlns="{S}"'
        if self.s == S:
            yield "s:", ""
        else:
            yield "s:", f' xmlns:s="{S}"'


class Writer:
    """One source in the making, until it has as many characters as it shall have."""

    def __init__(self, seed, size, *, dense=False, with_groups=True):
        self.random = Random(seed)
        self.size = size
        self.parts = []
        self.written = 0
        self.count = 0
        self.with_groups = with_groups
        self.single_line = dense
        self.on_lines = not dense and self.random.random() < 0.6
        self.uniform = self.random.random() < 0.4  # as what writes many jobs does it
        self.noise = self.random.choice((0.0, 0.02, 0.3))
        self.largest = self.random.choice((1, 1, 8, 60))
        self.usual = None
        self.level = 0

    def put(self, text):
        self.parts.append(text)
        self.written += len(text)

    def space(self):
        return "" if self.single_line else self.random.choice(SPACES)

    @property
    def line(self):
        """What stands before a job object."""
        return "\n" if self.on_lines else self.space()

    def decoy(self):
        return "".join(self.random.choices(DECOYS, k=self.random.randrange(1, 4)))

    def quoted(self):
        return f"<![CDATA[{self.decoy().replace(']]>', '')} ]]>"

    def comment(self):
        return f"<!-- {self.decoy().replace('--', '-')} -->"

    def instruction(self):
        return f"<?{self.random.choice(('pi', 'Job', 'xmls'))} {self.decoy().replace('?>', '')} ?>"

    def escaped(self):
        return self.decoy().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def noisy(self, *, is_root=False):
        """What may stand between job objects, and in them."""
        kinds = [self.comment, self.instruction]
        if not is_root:
            kinds += [self.quoted, self.escaped, self.other, self.file]
        return self.random.choice(kinds)()

    def other(self):
        return self.random.choice((
            "<Count a='/>'>3</Count>", '<Row a="&lt;/Job>"/>', "<Status><Value>Success</Value></Status>",
            f"<q:x xmlns:q='urn:x' q:a='{'>' * 3}'/>", "<a><b><c/></b></a>", f"<m>{self.quoted()}</m>",
        ))  # fmt: skip

    def file(self):
        self.count += 1
        size = self.random.choice((1, 1, 20)) * self.random.randrange(1, self.largest + 1)
        return f'<File id="f{self.count}">{"".join(self.quoted() for _ in range(size))}</File>'

    def job(self, scope):
        self.count += 1
        self.scope_has_s = bool(scope.s)
        if self.usual is None or not self.uniform:
            self.usual = self.random.random()
        options = [*scope.job_prefix]
        prefix, declared = options[int(self.usual * len(options))]
        p, random = prefix, self.random
        said = random.choice(ATTRIBUTES) if random.random() < self.noise else ""
        self.put(f"<{p}Job{declared}{said}>{self.space()}<{p}Id>j{self.count}</{p}Id>")
        self.put(f"<{p}User>{random.choice(USERS)}</{p}User>{self.space()}")
        self.put(f"<{p}State>{random.choice(STATES)}</{p}State>")
        self.put(f"<{p}Delivered><{p}Duration>{random.randrange(99)}</{p}Duration></{p}Delivered>")
        for _ in range(random.randrange(self.largest) if random.random() < 0.1 else 0):
            self.put(f"<{p}Extension>{self.noisy() * 9}</{p}Extension>{self.space()}")
        if random.random() < self.noise:
            self.put(self.comment() + f"<{p}Name>{self.quoted()}{self.escaped()}</{p}Name>")
        if random.random() < self.noise / 2:
            self.put(f"<{p}Extension type='{'s:Job' if self.scope_has_s else 'xml:T'}'/>")
        if random.random() < self.noise / 4:
            self.put(f'<{p}Extension xmlns:t="urn:t" type="t:Job"><{p}Job/></{p}Extension>')
        self.put(f"{self.space()}</{p}Job{self.space()}>")

    def group(self, scope):
        self.count += 1
        p, declared = self.random.choice([*scope.job_prefix])
        inside = Scope(scope.default if p else "", S, scope.q)
        if p == "":
            inside = Scope(S if S in declared else scope.default if not declared else "")
        self.put(f"<{p}JobGroup{declared}><{p}Id>g{self.count}</{p}Id>{self.space()}")
        for _ in range(self.random.randrange(self.largest + 3)):
            self.count += 1
            self.put(f"<{p}Job><{p}Id>j{self.count}</{p}Id></{p}Job>{self.space()}")
            if self.random.random() < self.noise:
                self.put(self.comment())
        self.put(f"</{p}JobGroup>")
        return inside

    def declarations(self, scope):
        """What a wrapper declares, and what names mean inside."""
        default, s, q = scope
        text = ""
        if self.random.random() < 0.25:
            default = self.random.choice(("", S, S, "urn:other"))
            text += f' xmlns="{default}"'
        if self.random.random() < 0.25:
            s = self.random.choice((S, S, "urn:s"))
            text += f" xmlns:s='{s}'"
        if self.random.random() < 0.3:
            q = self.random.choice(("urn:q", "urn:r"))
            text += f' xmlns:q="{q}"'
            if self.random.random() < 0.5:
                text += ' q:type="s:Job"'
        if self.random.random() < 0.3:
            text += self.random.choice(ATTRIBUTES)
        return text, Scope(default, s, q)

    def wrapper(self, scope, depth, until, *, is_root=False):
        text, inside = self.declarations(scope)
        names = [*NAMES, *(PREFIXED if inside.q else ())]
        name = self.random.choice(names)
        if is_root and name == "File":
            name = "Data"
        self.put(f"<{name}{text}{self.space()}>{self.line}")
        self.level += 1
        if depth > 1 and self.random.random() < 0.8:
            for _ in range(self.random.randrange(1, 4)):
                self.wrapper(inside, depth - 1, self.written + (until - self.written) // 2)
        self.job(inside)
        usual = self.line
        while self.written < until:
            self.put(usual if self.random.random() >= self.noise else self.noisy() + self.line)
            if self.level < 30 and self.random.random() < 0.02:
                self.wrapper(
                    inside,
                    self.random.randrange(1, 4),
                    self.written + self.random.randrange(self.size // 4 + 1),
                )
            elif self.with_groups and self.random.random() < 0.02:
                self.group(inside)
            else:
                self.job(inside)
        self.level -= 1
        self.put(f"{self.space()}</{name}{self.space()}>{self.space()}")

    def document(self, until):
        self.parts = []
        if self.random.random() < 0.2:
            self.put('<?xml version="1.0" encoding="UTF-8"?>' + self.space())
        if self.random.random() < self.noise:
            self.put(self.noisy(is_root=True) + self.space())
        if self.random.random() < 0.1:
            self.job(Scope())
        else:
            self.wrapper(Scope(), self.random.randrange(1, 6), until, is_root=True)
        if self.random.random() < self.noise:
            self.put(self.space() + self.noisy(is_root=True))
        self.put("" if self.single_line else self.random.choice(("", "\n", "\n\n")))
        return "".join(self.parts)


def documents(seed, size, *, with_groups=True):
    """The documents of one source, as texts."""
    random = Random(seed)
    writer = Writer(seed, size, dense=random.random() < 0.3, with_groups=with_groups)
    count = random.choice((1, 1, 1, 2, 5))
    found = [writer.document(size * (n + 1) // count) for n in range(count)]
    while writer.written < size:
        found.append(writer.document(size))
    return found


def outermost(text):
    """The Jobs and JobGroups of one document that stand in no other, each in its whole tree."""
    parser = etree.XMLParser(huge_tree=True, resolve_entities=False, strip_cdata=False)
    root = etree.fromstring(text.encode(), parser)
    return [
        element
        for element in root.iter("{*}Job", "{*}JobGroup")
        if _is_unit(element) and not any(map(_is_unit, element.iterancestors()))
    ]


def _is_unit(element):
    name = etree.QName(element)
    return name.localname in ("Job", "JobGroup") and (name.namespace or "") in spec.NAMESPACES


def seen(element):
    """All that a job object says: what is in it, and what the prefixes in it mean."""
    inside = [
        (
            node.tag,
            node.prefix,
            dict(node.attrib),
            node.text,
            len(node),
            node is element or node.tail,
        )
        for node in element.iter()
    ]
    text = repr(inside)
    names = {key: value for key, value in element.nsmap.items() if value and f"{key}:" in text}
    return inside, names


def around(element, *, apart=""):
    """The tags around a job object, but for one that a reader puts around many documents."""
    return [(each.tag, dict(each.attrib)) for each in element.iterancestors() if each.tag != apart]
