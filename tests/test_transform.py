"""Sheets: those that come with sssjob, and how any sheet is run."""

import gzip
import io
import re
from pathlib import Path

import odd_numbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from sssjob import resources, spec, transform, units
from sssjob.document import dumps, loads
from sssjob.errors import BadSheet

DATA = Path(__file__).parent / "data"
VALID = sorted((DATA / "valid").glob("*.xml"))
SHEETS = [path.stem for path in resources.sheets()]
each_document = pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
each_namespace = pytest.mark.parametrize("namespace", spec.NAMESPACES, ids=["none", "sssrmap"])


def run(sheet, document, **parameters):
    source = document.encode() if isinstance(document, str) else document
    return b"".join(transform.transform(sheet, source, **parameters)).decode()


def tree(text):
    return etree.fromstring(text.encode())


def names(text):
    return [etree.QName(node).localname for node in tree(text).iter("{*}*")]


def in_namespace(text, namespace):
    """A document in a namespace by prefix, as an envelope would hold it."""
    if not namespace:
        return text
    prefixed = re.sub(r"<(/?)(\w)", r"<\1p:\2", text)
    return re.sub(r"<p:(\w+)", rf'<p:\1 xmlns:p="{namespace}"', prefixed, count=1)


# --- older names -----------------------------------------------------------------------------

CATEGORIES = (spec.REQUESTED, spec.DELIVERED)
PLACES = [(alias, container.name) for alias in spec.ALIASES for container in spec.CONTAINERS]


@each_namespace
@pytest.mark.parametrize(
    ("alias", "container"), PLACES, ids=[f"{alias.name}-{place}" for alias, place in PLACES]
)
def test_names_become_what_the_table_of_aliases_says(alias, container, namespace):
    document = f"<{container}><{alias.name}>1</{alias.name}></{container}>"
    wanted = [container, alias.name]
    if row := spec.alias(alias.name, container):
        implied = [row.category] if row.category and container not in CATEGORIES else []
        wanted = [container, *implied, row.canonical]
    wrapped = in_namespace(f"<Job>{document}</Job>", namespace)
    assert names(run("to-3.1.0", wrapped)) == ["Job", *wanted]


def test_the_sheet_knows_the_names_of_the_table_and_no_others():
    text = resources.sheet("to-3.1.0").read_text()
    pairs = {tuple(pair.split("=")) for pair in re.findall(r"(?<=\s)\w+=[A-Z]\w+(?=\s)", text)}
    assert pairs == {(row.name, row.canonical) for row in spec.ALIASES}


RENAMED = [
    pytest.param(
        "<Job><JobId>1</JobId><requestedProcessors>4</requestedProcessors><UserId>a</UserId>"
        "<wallclockLimit>60</wallclockLimit><wallclockTimeUsed>5</wallclockTimeUsed></Job>",
        "<Job><Id>1</Id><User>a</User><Requested><Processors>4</Processors>"
        "<Duration>60</Duration></Requested><Delivered><Duration>5</Duration></Delivered></Job>",
        id="implied categories",
    ),
    pytest.param(
        '<Job><JobId>1</JobId><Requested><ProjectId group="1">a</ProjectId></Requested></Job>',
        '<Job><Id>1</Id><Requested><Project group="1">a</Project></Requested></Job>',
        id="attributes stay",
    ),
    pytest.param(
        '<Job><JobId>1</JobId><Network>Ethernet</Network><Network units="MB">x</Network>'
        "<Network> 1.5 </Network></Job>",
        '<Job><Id>1</Id><NetworkAdapter>Ethernet</NetworkAdapter><Network units="MB">x</Network>'
        "<Network> 1.5 </Network></Job>",
        id="two properties named Network",
    ),
    pytest.param(
        '<Job xmlns:x="urn:x"><Id>1</Id><x:UserId>a</x:UserId><x:requestedNodes>2'
        "</x:requestedNodes><x:Job><x:JobId>2</x:JobId></x:Job></Job>",
        '<Job xmlns:x="urn:x"><Id>1</Id><x:UserId>a</x:UserId><x:requestedNodes>2'
        "</x:requestedNodes><x:Job><x:JobId>2</x:JobId></x:Job></Job>",
        id="foreign names stay",
    ),
    pytest.param(
        "<Job>\n  <JobId>1</JobId>\n  <requestedNodes>2</requestedNodes>\n  <!-- note -->\n</Job>",
        "<Job>\n  <Id>1</Id>\n  <!-- note -->\n  <Requested><NodeCount>2</NodeCount>"
        "</Requested>\n</Job>",
        id="indentation",
    ),
]


@pytest.mark.parametrize("old, new", RENAMED)
def test_older_documents_become_documents_of_3_1_0(old, new):
    assert run("to-3.1.0", old).strip() == new
    assert loads(new) == loads(old)


@each_document
def test_a_document_of_3_1_0_stays_as_it_is(path):
    for job in etree.parse(path).xpath("//*[local-name()='Job' or local-name()='JobGroup']"):
        before = etree.tostring(job, with_tail=False, encoding=str)
        after = run("to-3.1.0", before)
        assert etree.canonicalize(after) == etree.canonicalize(before)


# --- keeping properties ----------------------------------------------------------------------

KEPT = [
    pytest.param("User", "<Job><Id>1</Id><User>a</User></Job>", id="a property"),
    pytest.param(
        "Processors",
        '<Job><Id>1</Id><Requested><Processors op="GE">4</Processors></Requested>'
        "<Delivered><Processors>4</Processors></Delivered></Job>",
        id="in its categories",
    ),
    pytest.param(
        " User ,Node\n",
        "<Job><Id>1</Id><User>a</User><TaskGroup><Id>t</Id><Task><Node>n</Node></Task>"
        "</TaskGroup></Job>",
        id="in its tasks",
    ),
    pytest.param(
        "Environment",
        '<Job><Id>1</Id><Environment><Variable name="A">b</Variable></Environment></Job>',
        id="a block",
    ),
    pytest.param("Proc", "<Job><Id>1</Id></Job>", id="names are whole"),
]
FULL = (
    "<Job><Id>1</Id><User>a</User><Requested>"
    '<Processors op="GE">4</Processors><Memory>2</Memory></Requested>'
    "<Delivered><Processors>4</Processors></Delivered>"
    '<Environment><Variable name="A">b</Variable></Environment>'
    "<TaskGroup><Id>t</Id><Task><Node>n</Node></Task></TaskGroup>"
    "<TaskGroup><Name>m</Name></TaskGroup></Job>"
)


@each_namespace
@pytest.mark.parametrize("wanted, left", KEPT)
def test_what_is_named_stays_with_what_holds_it(wanted, left, namespace):
    left = left.replace("</Job>", "<TaskGroup><Id>t</Id></TaskGroup></Job>")
    left = left.replace("</TaskGroup><TaskGroup><Id>t</Id></TaskGroup>", "</TaskGroup>")
    found = run("keep", in_namespace(FULL, namespace), names=wanted)
    assert found.strip() == in_namespace(left, namespace)


def test_an_expression_stays_whole():
    block = '<Requested><User group="1">a</User><Project group="-1">b</Project></Requested>'
    document = f"<Job><Id>1</Id>{block}<State>Idle</State></Job>"
    assert run("keep", document, names="User").strip() == f"<Job><Id>1</Id>{block}</Job>"
    assert run("keep", document, names="State").strip() == (
        "<Job><Id>1</Id><State>Idle</State></Job>"
    )


@each_document
@pytest.mark.parametrize("wanted", ["User", "Processors Node", "Variable,Session,Shell"])
def test_what_is_kept_of_a_valid_document_is_valid(path, wanted):
    kept = etree.fromstring(f"<Kept>{run('keep', path.read_bytes(), names=wanted)}</Kept>")
    assert len(kept) > 0
    for unit in kept:
        schema = "sssjob-sssrmap" if etree.QName(unit).namespace else "sssjob"
        alone = etree.fromstring(etree.tostring(unit, with_tail=False))
        etree.XMLSchema(file=resources.schema(schema)).assertValid(alone)


def test_keep_asks_for_names():
    with pytest.raises(BadSheet, match=r"^keep: give the properties to keep"):
        run("keep", FULL)


# --- usage records ---------------------------------------------------------------------------

URF = "{http://schema.ogf.org/urf/2003/09/urf}"
USAGE_RECORDS = etree.XMLSchema(file=DATA / "oracles" / "urf-1.0.xsd")


def usage_record(document):
    records = tree(run("usage-record", document))
    USAGE_RECORDS.assertValid(records)
    (record,) = records
    return record


@each_document
def test_usage_records_of_valid_documents_are_valid(path):
    records = tree(run("usage-record", path.read_bytes()))
    USAGE_RECORDS.assertValid(records)
    definitions = etree.parse(path).xpath("count(//*[local-name()='Job'][*])")
    assert len(records) == definitions


@pytest.mark.parametrize("name", odd_numbers.NAMES)
def test_usage_records_are_valid_whatever_stands_where_a_number_should(name):
    jobs = "".join(dumps(job) for job in odd_numbers.jobs(name))
    USAGE_RECORDS.assertValid(tree(run("usage-record", f"<Jobs>{jobs}</Jobs>")))


FIELDS = [
    pytest.param("<State>Completed</State>", "Status", "completed", id="completed"),
    pytest.param("<State>Completed</State><ExitCode>3</ExitCode>", "Status", "failed", id="failed"),
    pytest.param("<State>Idle</State>", "Status", "queued", id="queued"),
    pytest.param("<State>Running</State>", "Status", "started", id="started"),
    pytest.param("<State>Hold</State>", "Status", "held", id="held"),
    pytest.param("<State>Cancelled</State>", "Status", "aborted", id="aborted"),
    pytest.param("", "Status", "queued", id="no state"),
    pytest.param("<EndTime>5</EndTime>", "Status", "completed", id="no state but an end"),
    pytest.param("<EndTime>1051558868</EndTime>", "EndTime", "2003-04-28T19:41:08Z", id="time"),
    pytest.param(
        "<Duration>9</Duration><Delivered><Duration>1155</Duration></Delivered>",
        "WallDuration", "PT1155S", id="delivered before stated",
    ),
    pytest.param("<Duration>9</Duration>", "WallDuration", None, id="a wish is no usage"),
    pytest.param(
        "<Requested><Processors>9</Processors></Requested>", "Processors", None, id="requested"
    ),
    pytest.param(
        '<Delivered><Processors group="1">2</Processors><Processors group="-1">3</Processors>'
        "</Delivered>", "Processors", "5", id="machines together",
    ),
    pytest.param("<Processors>0</Processors>", "Processors", None, id="no zero"),
    pytest.param("<Machine>Colony</Machine>", "MachineName", "Colony", id="a machine"),
    pytest.param("<Machine>my_cluster</Machine>", "Resource", "my_cluster", id="no domain name"),
    pytest.param('<Node aggregation="List">n1,n2</Node>', "Host", "n1", id="listed nodes"),
    pytest.param("<Extension name='a'>x &lt; y</Extension>", "Resource", "x < y", id="extension"),
]  # fmt: skip


@each_namespace
@pytest.mark.parametrize("properties, field, text", FIELDS)
def test_fields_of_usage_records(properties, field, text, namespace):
    document = in_namespace(f"<Job><Id>1</Id>{properties}</Job>", namespace)
    assert usage_record(document).findtext(URF + field) == text


AMOUNTS = [
    pytest.param("<Memory units='GB'>1.5</Memory>", "1536", "MB", id="a fraction"),
    pytest.param("<Memory units='TB'>2</Memory>", "2048", "GB", id="no TB there"),
    pytest.param("<Memory units='YB'>1</Memory>", "1048576", "EB", id="no YB there"),
    pytest.param("<Memory units='PB'>3</Memory>", "3", "PB", id="PB is there"),
    pytest.param("<Memory>512</Memory>", "512", "MB", id="the default unit"),
    pytest.param("<Memory units='B'>+1.5e3</Memory>", "1500", "B", id="an exponent"),
    pytest.param("<Memory units='KB'>25E-1</Memory>", "2560", "B", id="a negative exponent"),
]


@pytest.mark.parametrize("prop, amount, unit", AMOUNTS)
def test_amounts_become_whole_numbers(prop, amount, unit):
    memory = usage_record(f"<Job><Id>1</Id>{prop}</Job>").find(URF + "Memory")
    assert (memory.text, memory.get(URF + "storageUnit")) == (amount, unit)


@given(
    st.decimals("0.001", 10**6, places=3), st.sampled_from(["KB", "MB", "GB", "TB", "PB"])
)  # fmt: skip
def test_an_amount_keeps_its_size_to_the_byte(amount, unit):
    document = f"<Job><Id>1</Id><Memory units='{unit}'>{amount}</Memory></Job>"
    memory = usage_record(document).find(URF + "Memory")
    exact = units.bytes_of(str(amount), unit)
    written = units.bytes_of(memory.text, memory.get(URF + "storageUnit"))
    # XPath counts in doubles: beyond 2^53 bytes the last digits are theirs.
    assert abs(written - exact) <= max(1, exact / 2**50)


def test_a_job_takes_from_its_defaults_what_it_does_not_say():
    defaults = "<JobDefaults><User>a</User><Queue>q</Queue><Id>no</Id></JobDefaults>"
    group = f"<JobGroup><Id>g</Id>{defaults}<Job><Id>1</Id><Queue>own</Queue></Job></JobGroup>"
    record = usage_record(group)
    assert record.findtext(f"{URF}UserIdentity/{URF}LocalUserId") == "a"
    assert record.findtext(f"{URF}Queue") == "own"
    assert record.findtext(f"{URF}JobIdentity/{URF}LocalJobId") == "1"


@pytest.mark.parametrize(
    "around", ["{}", "<Jobs>{}</Jobs>", "<Jobs><Job><Id>0</Id></Job>{}{}</Jobs>"]
)
def test_a_job_of_a_group_takes_from_its_defaults_wherever_the_group_stands(around):
    group = (
        "<JobGroup><JobDefaults><User>amy</User>"
        "<Extension name='Signal'>9</Extension></JobDefaults>"
        "<Job><Id>1</Id><ExitCode>0</ExitCode></Job></JobGroup>"
    )
    found = run("usage-record", around.format(group, group))
    count = around.count("{}")
    assert found.count("<urf:LocalUserId>amy<") == found.count("<urf:Status>failed<") == count


def test_other_processors_get_a_document_from_the_usage_record_sheet():
    sheet = etree.XSLT(etree.parse(resources.sheet("usage-record")))
    records = sheet(etree.fromstring("<Jobs><Job><Id>1</Id></Job></Jobs>")).getroot()
    USAGE_RECORDS.assertValid(records)


# --- pages -----------------------------------------------------------------------------------


def page(document, **parameters):
    return html.document_fromstring(run("job-html", document, **parameters))


@each_document
def test_a_page_needs_nothing_else_and_its_links_lead_somewhere(path):
    found = page(path.read_bytes())
    anchors = {f"#{anchor}" for anchor in found.xpath("//@id")}
    assert set(found.xpath("//@href")) <= anchors
    assert not found.xpath("//@src | //script | //link | //@*[starts-with(name(), 'on')]")
    assert len(found.xpath("//h1")) >= 1


@each_document
def test_a_page_shows_every_text_that_is_no_number(path):
    shown = " ".join(page(path.read_bytes()).text_content().split())
    leaves = etree.parse(path).xpath("//*[local-name()='Job']//*[not(*)]")
    texts = {" ".join(node.text.split()) for node in leaves if node.text}
    texts = {text for text in texts if not re.fullmatch(r"[-+\d.]*|true|false", text)}
    assert {text for text in texts if text not in shown} == set()


def test_a_page_escapes_what_jobs_say():
    nasty = "<script>alert(1)</script>"
    escaped = nasty.replace("<", "&lt;")
    text = run(
        "job-html",
        f"<Job><Id>{escaped}</Id><Name>{escaped}</Name><State>{escaped}</State>"
        f"<Dependency>{escaped}</Dependency><Resource name='{escaped}'>1</Resource></Job>",
        title=nasty,
    )
    assert "<script" not in text
    assert html.document_fromstring(text).findtext(".//title") == nasty


def test_a_page_writes_times_and_durations_for_people():
    text = page(
        "<Job><Id>1</Id><StartTime>1051557713</StartTime><Requested>"
        "<Duration op='LE'>95053</Duration></Requested></Job>"
    ).text_content()
    assert "2003-04-28 19:21:53 UTC" in text
    assert "≤\xa01\xa0d 2\xa0h 24\xa0min 13\xa0s" in text


def test_a_page_puts_requested_beside_delivered_and_says_the_expression():
    found = page((DATA / "valid" / "1.3-elaborate-example.xml").read_bytes())
    rows = [
        [" ".join(cell.text_content().split()) for cell in row]
        for row in found.xpath("//table[@class='comparison']//tr")
    ]
    assert ["Duration", "1 h", "19 min 15 s"] in rows
    assert ["Memory", "1024 MB", "975 MB max"] in rows
    (expression,) = found.xpath("//p[@class='expression']")
    said = " ".join(expression.text_content().split())
    assert said.startswith("Requested: (Processors = 12 or Processors = 16) and Memory = 512 MB")


def test_a_dependency_leads_to_the_job_that_it_names():
    found = page(
        "<JobGroup><Id>g</Id><Job><Id>a</Id><Name>prepare</Name></Job><Job><Id>b</Id>"
        "<Dependency designator='JobName' condition='OnExit' code='2'>prepare</Dependency>"
        "<Dependency>elsewhere</Dependency></Job></JobGroup>"
    )
    (item, other) = found.xpath("//ul/li")
    assert item.text_content().strip() == "exit with code 2 of prepare"
    assert item.xpath("a/@href") == [f"#{found.xpath('//article/@id')[0]}"]
    assert not other.xpath("a")


def test_a_page_is_the_same_each_time():
    document = VALID[0].read_bytes()
    assert run("job-html", document) == run("job-html", document)


# --- running sheets --------------------------------------------------------------------------


def test_every_sheet_says_what_it_does():
    found = transform.sheets()
    assert [sheet.name for sheet in found] == SHEETS == sorted(SHEETS)
    assert all(sheet.about for sheet in found)
    assert {sheet.name for sheet in found if sheet.stream} == {"keep", "to-3.1.0", "usage-record"}


@pytest.fixture
def written(tmp_path):
    def write(body, name="mine.xsl"):
        path = tmp_path / name
        path.write_text(
            '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"\n'
            ' xmlns:sheet="urn:sssjob:sheet" xmlns:exsl="http://exslt.org/common"\n'
            f' extension-element-prefixes="exsl" exclude-result-prefixes="sheet">\n{body}\n'
            "</xsl:stylesheet>"
        )
        return path

    return write


TEXT = '<xsl:output method="text"/>'


def test_a_sheet_without_a_word_about_streams_gets_whole_documents(written):
    sheet = written(
        f'{TEXT}<xsl:template match="/"><xsl:value-of select="count(//Job)"/>;</xsl:template>'
    )
    jobs = "<Jobs><Job><Id>1</Id></Job><Job><Id>2</Id></Job></Jobs>"
    assert run(sheet, jobs) == "2;\n"
    assert run(sheet, f"{jobs}\n<Job><Id>3</Id></Job>") == "2;\n1;\n"


def test_a_sheet_that_streams_gets_job_after_job(written):
    sheet = written(
        f'<sheet:about stream="yes" before="[" after="]"/>{TEXT}<xsl:param name="streamed"/>'
        '<xsl:template match="/"><xsl:value-of select="concat($streamed, name(*))"/></xsl:template>'
    )
    jobs = "<Jobs><Job><Id>1</Id></Job><JobGroup><Id>2</Id><Job>1</Job></JobGroup></Jobs>"
    assert run(sheet, jobs) == "[\nyesJob\nyesJobGroup\n]\n"
    assert run(sheet, gzip.compress(jobs.encode())) == "[\nyesJob\nyesJobGroup\n]\n"


def test_streams_are_handed_on_as_they_come():
    class Endless(io.RawIOBase):
        started = False

        def readable(self):
            return True

        def readinto(self, buffer):
            text = b"<Job><Id>1</Id></Job>" if self.started else b"<Jobs>"
            self.started = True
            buffer[: len(text)] = text
            return len(text)

    pieces = transform.transform("keep", Endless(), names="User")
    assert [next(pieces) for _ in range(10_000)] == [b"<Job><Id>1</Id></Job>\n"] * 10_000


@pytest.mark.parametrize("value", ["a'b", 'a"b', "'\"", "document('/etc/hostname')", "", "ä\n<&"])
def test_parameters_are_text_whatever_they_hold(written, value):
    sheet = written(
        f'{TEXT}<xsl:param name="p"/>'
        "<xsl:template match=\"/\"><xsl:value-of select=\"concat('[', $p, ']')\"/></xsl:template>"
    )
    assert run(sheet, "<Job/>", p=value) == f"[{value}]\n"


@pytest.mark.parametrize("value, code", [("\x01", "0001"), ("a\udcff", "DCFF"), ("\uffff", "FFFF")])
def test_a_parameter_that_is_no_text_of_xml_is_refused(value, code):
    said = rf"keep: parameter names: character U\+{code} cannot be in XML"
    with pytest.raises(BadSheet, match=said):
        run("keep", FULL, names=value)


def test_messages_reach_who_listens(written):
    sheet = written(
        '<xsl:template match="/"><xsl:for-each select="//Id"><xsl:message>see '
        '<xsl:value-of select="."/></xsl:message></xsl:for-each></xsl:template>'
    )
    said = []
    assert not list(transform.transform(sheet, b"<Job><Id>7</Id></Job>", on_message=said.append))
    assert said == ["see 7"]


def template(body):
    return f'<xsl:template match="/">\n{body}</xsl:template>'


BAD = [
    pytest.param(template("<xsl:foo/>"), ":5: unknown xsl:foo", id="an unknown instruction"),
    pytest.param(
        template("<xsl:value-of select='1 +'/>"),
        ":5: xsl:value-of : could not compile select", id="XPath",
    ),
    pytest.param(template("<a>"), ": not well-formed: ", id="no XML"),
    pytest.param(template("<xsl:value-of select='$no'/>"), ":5: Variable 'no'", id="a variable"),
    pytest.param(
        template("<xsl:copy-of select=\"document('/etc/hostname')\"/>"),
        ":5: a sheet may not read files: /etc/hostname", id="reading",
    ),
    pytest.param(
        template("<xsl:copy-of select=\"document('http://localhost:1/x')\"/>"),
        ":5: a sheet may not use the network: http://localhost:1/x", id="the network",
    ),
    pytest.param(
        template('<exsl:document href="/nowhere/x"><a/></exsl:document>'),
        ":5: a sheet may not write files: /nowhere/x", id="writing",
    ),
    pytest.param(
        template("<xsl:message terminate='yes'>no more</xsl:message>"), ": no more", id="an end"
    ),
    pytest.param(
        '<xsl:template match="/" name="a"><xsl:call-template name="a"/></xsl:template>',
        ": its templates call each other without end", id="a loop",
    ),
]  # fmt: skip


@pytest.mark.parametrize("body, message", BAD)
def test_a_sheet_that_fails_says_where_and_why(written, body, message):
    sheet = written(body)
    with pytest.raises(BadSheet) as caught:
        run(sheet, "<Job><Id>1</Id></Job>")
    said = str(caught.value).removeprefix(str(sheet))
    assert message.lstrip(":0123456789") in said
    if message[1].isdigit():
        assert re.match(r":\d+: ", said)


UNKNOWN = [
    pytest.param("kep", "kep: neither a sheet of sssjob nor a file; did you mean keep?", id="near"),
    pytest.param("zzz", f"there are {', '.join(SHEETS)}", id="far"),
    pytest.param("no/such.xsl", "no/such.xsl: there is no such file", id="a path"),
]


@pytest.mark.parametrize("sheet, message", UNKNOWN)
def test_an_unknown_sheet_is_named_with_the_nearest(sheet, message):
    with pytest.raises(BadSheet, match=re.escape(message)):
        run(sheet, "<Job/>")


def test_an_unknown_parameter_is_named_with_the_nearest():
    with pytest.raises(BadSheet, match=r"no parameter name; did you mean names\?"):
        run("keep", FULL, name="User")
    with pytest.raises(BadSheet, match="its parameters: none"):
        run("to-3.1.0", FULL, x="User")


def test_a_sheet_may_include_one_that_lies_beside_it(written):
    body = template("<xsl:value-of select='$p'/>")
    written(f"{TEXT}<xsl:param name='p'/>{body}", "other.xsl")
    assert run(written("<xsl:include href='other.xsl'/>"), "<Job/>", p="x") == "x\n"


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_sheet_of_ours_runs_in_both_namespaces_alike(sheet):
    given = {"names": "User"} if sheet == "keep" else {}
    plain = run(sheet, FULL, **given)
    prefixed = run(sheet, in_namespace(FULL, spec.NAMESPACE), **given)
    assert re.sub(r"(?<=<)p:|(?<=</)p:| xmlns:p=\"[^\"]*\"", "", prefixed) == plain
