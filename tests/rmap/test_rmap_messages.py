"""Messages come out of a Body as they went in, and real peers' messages mean what they meant."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from gold import ANSWERED, RECORDINGS, documents, recording
from hypothesis import given
from lxml import etree
from messages import REQUESTS, RESPONSES

from sssjob.errors import InvalidValue, Refused
from sssjob.rmap import codes
from sssjob.rmap.envelope import Encrypted, local, opened
from sssjob.rmap.message import (
    Conj,
    Data,
    DataDocument,
    Get,
    Object,
    Op,
    Option,
    Request,
    Response,
    Row,
    Set,
    Status,
    Where,
)
from sssjob.rmap.reading import _DEEPEST as DEEPEST
from sssjob.rmap.reading import read_request, read_response
from sssjob.rmap.writing import encrypted_envelope, envelope, plain, write_request, write_response


def body(text):
    return opened(envelope(text.encode())).body


def request(inside="<Object>Job</Object>", attributes='action="Query" actor="ann"'):
    return read_request(body(f"<Body><Request {attributes}>{inside}</Request></Body>"))


@given(REQUESTS)
def test_a_request_is_read_as_it_was_written(asked):
    assert read_request(body(write_request(asked))) == asked


@given(RESPONSES)
def test_a_response_is_read_as_it_was_written(answer):
    assert read_response(body(write_response(answer))) == answer


def test_what_every_peer_understands_is_on_one_line_without_empty_element_tags():
    text = write_request(
        Request("Query", "ann", (Object("Job"),), (Get("Id"),), wheres=(Where("Id", "a\nb>c"),))
    )
    assert "/>" not in text
    assert "b&gt;c" in text
    assert write_response(Response(data=Data((Row("Job", (("Id", ""),)),)))).endswith(
        "<Data><Job><Id></Id></Job></Data></Response></Body>"
    )


def test_what_is_not_ascii_is_written_as_a_reference():
    text = write_response(Response(data=Data((Row("User", (("Name", "J\u00fcrgen \u20ac"),)),))))
    assert "<Name>J&#252;rgen &#8364;</Name>" in text


def test_text_that_xml_does_not_have_is_not_written():
    with pytest.raises(InvalidValue, match="not in XML"):
        write_request(Request("Query", "a\0b", (Object("Job"),)))


READ = [
    pytest.param("job-query-nested", Request(
        "Query", "root", (Object("Job"),),
        tuple(map(Get, ("Id", "JobId", "User", "Processors", "Charge"))),
        wheres=(
            Where("Machine", "m1"), Where("User", "ann", group=2),
            Where("Processors", "16", Op.GE, group=-1), Where("User", "bob", conj=Conj.OR, group=1),
            Where("Charge", "1000", Op.LT, Conj.AND_NOT, -2),
        ),
    ), id="conditions and groups"),
    pytest.param("java-query", Request(
        "Query", "nobody", (Object("User"),), (Get("Name"), Get("EmailAddress")),
        wheres=(Where("Name", "ann", group=1), Where("Name", "bob", conj=Conj.OR, group=-1)),
        chunking=True,
    ), id="attributes in the order of Java"),
    pytest.param("chunk-user", Request(
        "Query", "root", (Object("User"),), (Get("Name"), Get("Active")), chunking=True, chunk_size=2,
    ), id="chunks"),
    pytest.param("join-query", Request(
        "Query", "root", (Object("User"), Object("ProjectUser")),
        (Get("Name", object="User"), Get("Active", object="ProjectUser"),
         Get("EmailAddress", object="User")),
        wheres=(Where("Name", "Name", object="User", subject="ProjectUser"),
                Where("Project", "proj1", object="ProjectUser")),
    ), id="several objects"),
    pytest.param("charge-data", Request(
        "Charge", "root", (Object("Job"),), data=Data((Row("Job", (
            ("JobId", "PBS.1236.0"), ("UserId", "bob"), ("ProjectId", "proj1"), ("MachineName", "m1"),
            ("Processors", "8"), ("WallDuration", "100"), ("QueueName", "batch"),
        )),)),
    ), id="data"),
    pytest.param("c-lib", Request("Query", "root", (Object("Object"),), id="1452085048"), id="id"),
    pytest.param("conj-or", Request(
        "Query", "root", (Object("Job"),), (Get("Id"),),
        wheres=(Where("User", "ann"), Where("User", "bob")),
    ), id="a join in lower case is And, as in Gold"),
    pytest.param("canon-crlf-in-text-as-lf", Request(
        "Query", "root", (Object("User"),), (Get("Name"),), wheres=(Where("Name", "a\nb"),),
    ), id="line breaks"),
]  # fmt: skip


@pytest.mark.parametrize("name, asked", READ)
def test_what_real_clients_ask_is_understood(name, asked):
    assert read_request(opened(recording(name).message).body) == asked


@pytest.mark.parametrize("each", ANSWERED, ids=lambda each: each.name)
def test_every_recorded_reply_is_written_back_byte_for_byte(each):
    found = documents(each.answered)
    assert found
    for document in found:
        sealed = opened(document)
        if sealed.encrypted is None:
            text = write_response(read_response(sealed.body)).encode()
            assert envelope(text).strip() == document.strip()


@pytest.mark.parametrize(
    "each", [each for each in RECORDINGS if each.name != "enc-query"], ids=lambda each: each.name
)
def test_every_recorded_request_means_the_same_when_we_write_it(each):
    sealed = opened(each.message)
    if each.name == "v22-no-object":
        with pytest.raises(Refused, match="No object"):
            read_request(sealed.body)
        return
    asked = read_request(sealed.body)
    assert read_request(body(write_request(asked))) == asked


LENIENT = [
    pytest.param('<Where name="A" op="ge">1</Where>', Where("A", "1", Op.GE), id="lower case"),
    pytest.param('<Where name="A" op="G">1</Where>', Where("A", "1", Op.GT), id="Slurm's G"),
    pytest.param('<Where name="A" op="L">1</Where>', Where("A", "1", Op.LT), id="Slurm's L"),
    pytest.param('<Where name="A" op="match">*</Where>', Where("A", "*", Op.MATCH), id="match"),
    pytest.param('<Where name="A" group="">1</Where>', Where("A", "1"), id="no group"),
    pytest.param('<Where name="A" groups="2">1</Where>', Where("A", "1"), id="Slurm's groups"),
    pytest.param('<Where name="A" conj="Nand">1</Where>', Where("A", "1", conj=Conj.AND_NOT), id="Nand"),
    pytest.param('<Where name="A" conj="Nor">1</Where>', Where("A", "1", conj=Conj.OR_NOT), id="Nor"),
    pytest.param('<Where name="A">1<!-- --> 2</Where>', Where("A", "1 2"), id="comment within"),
]  # fmt: skip


@pytest.mark.parametrize("inside, meant", LENIENT)
def test_what_old_peers_spell_otherwise_is_understood(inside, meant):
    assert request(f"<Object>Job</Object>{inside}").wheres == (meant,)


def test_very_old_documents_have_object_and_actor_in_other_places():
    found = read_request(
        body(
            '<Body actor="ann" chunking="TRUE"><Request action="Query" object="Job"></Request></Body>'
        )
    )
    assert found == Request("Query", "ann", (Object("Job"),), chunking=True)


def test_an_expression_is_the_text_of_a_get():
    found = request("<Object>Job</Object><Get>//Job[State='Idle']/Id</Get>")
    assert found.gets == (Get("", path="//Job[State='Idle']/Id"),)


def test_a_job_object_in_data_stays_the_document_that_it_is():
    job = b'<Job><Id>1</Id><Requested><Memory units="GB">2</Memory></Requested></Job>'
    found = request(f"<Object>Job</Object><Data>{job.decode()}\n<Job><Id>2</Id></Job></Data>")
    assert found.data == Data((DataDocument(job), Row("Job", (("Id", "2"),))))


def test_a_job_under_an_envelope_with_a_namespace_keeps_it():
    namespace = "http://www.scidac.org/ScalableSystems/SSSRMAP"
    raw = (
        f'<Envelope xmlns="{namespace}"><Body><Request action="Create" actor="ann">'
        "<Object>Job</Object><Data><Job><Requested><Memory>2</Memory></Requested></Job></Data>"
        "</Request></Body></Envelope>"
    )
    (item,) = read_request(opened(raw.encode()).body).data.items
    assert etree.fromstring(item.xml)[0][0].tag == f"{{{namespace}}}Memory"


REFUSED = [
    pytest.param("<Body></Body>", "302", id="no request"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>J</Object></Request>'
                 '<Request action="Delete" actor="a"><Object>J</Object></Request></Body>',
                 "302", id="two requests"),
    pytest.param('<Body><Request action="Query" actor="a"></Request></Body>', "311", id="no object"),
    pytest.param('<Body><Request action="Query" actor="a"><Object> </Object></Request></Body>',
                 "311", id="object without name"),
    pytest.param('<Body><Request actor="a"><Object>Job</Object></Request></Body>', "312", id="no action"),
    pytest.param('<Body><Request action="Query"><Object>Job</Object></Request></Body>', "312", id="no actor"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Where>1</Where></Request></Body>',
                 "318", id="condition without name"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Where name="A" op="~">1</Where></Request></Body>',
                 "318", id="no comparison"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Where name="A" conj="Xor">1</Where></Request></Body>',
                 "318", id="no join"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Where name="A" group="1">1</Where></Request></Body>',
                 "318", id="a group left open"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Where name="A">1</Where><Where name="A" group="1">1</Where></Request></Body>',
                 "318", id="a group left open behind another condition"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Where name="A" group="-1">1</Where><Where name="A" group="1">1</Where></Request></Body>',
                 "318", id="closed before it is opened"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Where name="A" group="999999">1</Where><Where name="A" group="-999999">1</Where></Request></Body>',
                 "318", id="groups without end"),
    pytest.param('<Body><Request action="Charge" actor="a"><Object>Job</Object><Option name="StartTime">soon</Option></Request></Body>',
                 "317", id="no time"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Get/></Request></Body>',
                 "318", id="get of nothing"),
    pytest.param('<Body><Request action="Modify" actor="a"><Object>Job</Object><Set>1</Set></Request></Body>',
                 "316", id="set of nothing"),
    pytest.param('<Body><Request action="Query" actor="a"><Object>Job</Object><Data/><Data/></Request></Body>',
                 "240", id="two data"),
]  # fmt: skip


@pytest.mark.parametrize("text, code", REFUSED)
def test_a_request_that_is_none_is_refused_with_its_code(text, code):
    with pytest.raises(Refused) as refused:
        read_request(body(text))
    assert refused.value.code == code


@pytest.mark.parametrize(
    "text, code",
    [
        pytest.param("<Body><Response></Response></Body>", "321", id="no status"),
        pytest.param("<Body><Response><Status><Value>Success</Value></Status></Response></Body>",
                     "322", id="no code"),
        pytest.param("<Body></Body>", "246", id="no response"),
    ],
)  # fmt: skip
def test_a_reply_without_its_status_is_refused(text, code):
    with pytest.raises(Refused) as refused:
        read_response(body(text))
    assert refused.value.code == code


def test_numbers_that_are_none_are_not_believed():
    found = request(attributes='action="Query" actor="a" chunkSize="-3" time="soon"')
    assert (found.chunk_size, found.time) == (0, None)
    assert request(attributes=f'action="Q" actor="a" chunkSize="{"9" * 400}"').chunk_size == 0


def query(inside):
    """A Body that asks for a Job, with these conditions or others."""
    asked = '<Request action="Query" actor="a"><Object>Job</Object>'
    return f"<Body>{asked}{inside}</Request></Body>"


TIME = "The option 'EndTime' is a time, in seconds since 1970 or ISO 8601 with a zone, found "
TOLD = [
    ("<Body></Body>", "The Body holds no Request"),
    ("<Body><Request/><Request/></Body>", "The Body holds more than one Request"),
    (query("<Where/>"), "The Where has no name"),
    (query("<Set/>"), "The Set has no name"),
    (query("<Option/>"), "The Option has no name"),
    (query('<Where name="A" op="~">1</Where>'), "'~' is no comparison; there are EQ, "),
    (query(f'<Where name="A" conj="{"x" * 20}">1</Where>'), f"'{'x' * 20}' joins no conditions"),
    (query(f'<Where name="A" conj="{"x" * 21}">1</Where>'), f"'{'x' * 17}...' joins no conditions"),
    (query('<Where name="A" group="x">1</Where>'), "'x' is no number of groups"),
    (query('<Where name="A" group="1.5">1</Where>'), "'1.5' is no number of groups"),
    (
        query('<Where name="A" Op="NE">1</Where>'),
        "'Op' is not an attribute here; did you mean op?",
    ),
    (query('<Where name="A" operator="NE">1</Where>'), "'operator' is not an attribute here"),
    (query('<Where name="A" x:op="NE" xmlns:x="urn:x">1</Where>'), "'{urn:x}op' is not an attri"),
    (
        query('<Set name="A" OP="Inc">1</Set>'),
        "'OP' is not an attribute here; did you mean op?",
    ),
    (
        query('<Wher name="A">1</Wher>'),
        "'Wher' is no part of a Request; did you mean Where?",
    ),
    (
        query('<where name="A">1</where>'),
        "'where' is no part of a Request; did you mean Where?",
    ),
    (query("<Options/>"), "'Options' is no part of a Request; did you mean Option?"),
    (query('<Condition name="A">1</Condition>'), "'Condition' is no part of a Request"),
    (
        query('<Conditions><Where name="A">1</Where></Conditions>'),
        "'Conditions' is no part of a Request",
    ),
    *(
        (
            query(f'<{name}:a xmlns:{name}="urn:x">{inside}</{name}:a>'),
            "A part of the Request is of",
        )
        for name in ("x", "y")
        for inside in (
            '<Where name="A">1</Where>',
            '<y:b xmlns:y="urn:y"><y:Where/></y:b>',
            "<Set/>",
            "<Get/>",
        )
    ),
    (query('<Where xmlns="urn:x" name="A">1</Where>'), "A part of the Request is of another name"),
    (query('<x:Set xmlns:x="urn:x" name="A">1</x:Set>'), "A part of the Request is of another na"),
    *(
        (
            query(f'<{name} name="A">1<{inside}/></{name}>'),
            f"What is in {name} is a text, and no ele",
        )
        for name in ("Where", "Set", "Get", "Option", "Object")
        for inside in ("Where", "Value", 'x:y xmlns:x="urn:x"')
    ),
    (query('<Data><Where name="A">1</Where></Data>'), "What is in Data is no part of the Request"),
    *(
        (query(f"<File>{inside}</File>"), "What is in File is no part of the Request")
        for inside in (
            '<Where name="A">1</Where>',
            '<a><Where name="A">1</Where></a>',
            "<Data><Set/></Data>",
            '<x:a xmlns:x="urn:x"><x:Option/></x:a>',
        )
    ),
    (query("<Count><a><Where/></a></Count>"), "What is in Count is a text, and no element"),
    *(
        (query(f'<x:{name} xmlns:x="urn:x" name="A">1</x:{name}>'), "A part of the Request is of")
        for name in ("where", "WHERE", "option", "Data", "object", "Count")
    ),
    (query('<Option name="EndTime">1.5</Option>'), TIME + "'1.5'"),
    (query('<Option name="EndTime">\u0661</Option>'), TIME + "'\u0661'"),
]


@pytest.mark.parametrize("text, told", TOLD)
def test_a_request_that_is_refused_hears_why(text, told):
    with pytest.raises(Refused) as refused:
        read_request(body(text))
    assert refused.value.message.startswith(told)


@pytest.mark.parametrize(
    "inside",
    [
        '<x:Foo xmlns:x="urn:x" name="A"><x:Bar>1</x:Bar></x:Foo>',
        '<Where xmlns:x="urn:x" name="A" x:hint="1">1</Where>',
        '<Where name="A">1<!-- <Where/> --><?x <Where/>?></Where>',
    ],
)
def test_extensions_of_another_namespace_are_passed(inside):
    plain = "<Object>Job</Object>" + ('<Where name="A">1</Where>' if "Where" in inside else "")
    assert request(f"<Object>Job</Object>{inside}") == request(plain)


def test_groups_may_be_as_deep_as_the_limit():
    deep = '<Where name="A" group="{}">1</Where>'
    at_most = deep.format(DEEPEST) + deep.format(-DEEPEST)
    assert [each.group for each in read_request(body(query(at_most))).wheres] == [
        DEEPEST, -DEEPEST,
    ]  # fmt: skip
    with pytest.raises(Refused, match="do not balance"):
        read_request(body(query(deep.format(DEEPEST + 1) + deep.format(-DEEPEST - 1))))


def answer(status, inside="", attributes=""):
    return read_response(
        body(f"<Body><Response{attributes}><Status>{status}</Status>{inside}</Response></Body>")
    )


def test_a_reply_without_a_value_that_is_known_has_that_of_its_code():
    for value in ("", "<Value>Maybe</Value>"):
        assert answer(f"{value}<Code> 146 </Code>").status == Status("146", "", codes.Value.WARNING)
    said = answer("<Value> Failure </Value><Code>000</Code><Message>no</Message>").status
    assert said == Status("000", "no", codes.Value.FAILURE)


INTEGERS = [
    ("5", 5), (" 5 ", 5), ("+5", 5), ("-5", -5), ("0", 0), ("9" * 18, 10**18 - 1), ("9" * 19, None),
    ("", None), ("-", None), ("--5", None), ("5.0", None), ("\u0661", None), ("5 6", None),
]  # fmt: skip


@pytest.mark.parametrize("written, meant", INTEGERS)
def test_a_count_is_a_number_of_18_digits_at_most(written, meant):
    found = answer("<Code>000</Code>", f"<Count>{written}</Count>", f' chunkNum="{written}"')
    assert (found.count, found.chunk_num) == (meant, meant)
    asked = request(attributes=f'action="Q" actor="a" chunkSize="{written}" time="{written}"')
    at_least_0 = meant if meant is not None and meant >= 0 else None
    assert (asked.chunk_size, asked.time) == (at_least_0 or 0, at_least_0)


ITEMS = [
    ("<Job><Id>1</Id> <User/></Job>", Row("Job", (("Id", "1"), ("User", "")))),
    ("<Job/>", Row("Job", ())),
    ("<Job> x </Job>", None),
    ('<Job a="1"/>', None),
    ("<Job><Id>1</Id>x</Job>", None),
    ('<Job><Id a="1">1</Id></Job>', None),
    ("<Job><Id><a/></Id></Job>", None),
    ('<Job><Id xmlns="urn:x">1</Id></Job>', None),
    ('<x:Job xmlns:x="urn:x"/>', None),
    ("<Job><Id>1</Id><!-- x --></Job>", None),
]


@pytest.mark.parametrize("text, row", ITEMS)
def test_data_is_a_row_where_nothing_but_names_and_texts_are_there(text, row):
    (found,) = request(f"<Object>Job</Object><Data>{text}</Data>").data.items
    assert found == (row or DataDocument(etree.tostring(etree.fromstring(text), encoding="UTF-8")))


def test_the_first_digit_of_a_code_tells_its_kind():
    assert len(codes.CODE) == len(codes.CODES)
    for row in codes.CODES:
        kind = {"0": "Success", "1": "Warning"}.get(row.number[0], "Failure")
        assert (len(row.number), row.value) == (3, kind)
    assert Status.of("146").value is codes.Value.WARNING
    assert Status.of("799").value is codes.Value.FAILURE


def test_each_way_to_join_conditions_is_an_or_or_not_and_negates_or_not():
    assert [(each.is_or, each.negates) for each in (Conj.AND, Conj.OR, Conj.AND_NOT, Conj.OR_NOT)] == [
        (False, False), (True, False), (False, True), (True, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "number, most, last",
    [(None, None, True), (1, -1, False), (1, 0, True), (2, 2, True), (1, 1, True)],
)
def test_the_last_part_of_an_answer_is_known(number, most, last):
    assert Response(chunk_num=number, chunk_max=most).is_last == last


@pytest.mark.parametrize(
    "text", ["1893456000", "2030-01-01T00:00:00Z", "2030-01-01T01:00:00+01:00"]
)
def test_an_option_that_is_a_time_is_read_as_everywhere_in_seconds(text):
    body = f'<Body><Request action="Charge" actor="a"><Object>Job</Object><Option name="StartTime">{text}</Option></Request></Body>'
    assert read_request(etree.fromstring(body)).option("StartTime") == "1893456000"


def test_options_and_fields_are_found_by_their_names():
    asked = Request("Query", "a", options=(Option("Limit", "5"),), sets=(Set("A", "1"),))
    assert (asked.option("Limit"), asked.option("Offset"), asked.object) == ("5", None, "")
    row = Row("Job", (("Id", "1"), ("Id", "2")))
    assert (row.get("Id"), row.get("Name")) == ("1", None)


def test_the_first_condition_is_joined_to_nothing():
    wheres = (Where("A", "1"), Where("B", "2"), Where("C", "3", conj=Conj.OR))
    text = write_request(Request("Query", "ann", (Object("Job"),), wheres=wheres))
    found = [each.get("conj") for each in etree.fromstring(text).iter("Where")]
    assert found == [None, "And", "Or"]
    text = write_request(Request("Query", "ann", (Object("Job"),), wheres=wheres[2:]))
    assert 'conj="Or"' in text


PLAIN = [
    (Row("Job", (("Id", "1"), ("User", "ann"))), {"object": "Job", "Id": "1", "User": "ann"}),
    (Row("Job", (("Id", "1"), ("Id", "2"))), {"object": "Job", "Id": ["1", "2"]}),
    (Row("Job", (("Id", "1"), ("Id", ""), ("Id", "3"))), {"object": "Job", "Id": ["1", "", "3"]}),
    (Row("Job"), {"object": "Job"}),
    (Row("Job", (("object", "x"),)), {"object": "x"}),
    (DataDocument(b"<Job><Id>1</Id></Job>"), {"xml": "<Job><Id>1</Id></Job>"}),
]


@pytest.mark.parametrize("item, told", PLAIN)
def test_an_element_of_data_is_told_in_json_by_its_names(item, told):
    assert plain(item) == told


def token_of(attributes):
    text = f"<Envelope><Signature><SecurityToken{attributes}/></Signature><Body/></Envelope>"
    signature = opened(text.encode()).signature
    return signature.token, signature.name


def test_a_signature_names_its_token_and_a_missing_one_is_symmetric():
    assert token_of(' type="Password" name="ann"') == ("Password", "ann")
    assert token_of(' type=""') == ("Symmetric", "")
    assert token_of("") == ("Symmetric", "")
    assert opened(b"<Envelope><Signature/><Body/></Envelope>").signature.token == "Symmetric"


def test_a_name_has_200_characters_at_most_and_that_of_a_stranger_is_none():
    for size in (200, 201):
        assert local(etree.Element("a" * size)) == ("a" * size if size == 200 else "")
    assert local(etree.Comment("a")) == ""
    assert local(etree.Element("{urn:x}Body")) == ""


@pytest.mark.parametrize("token, meant", [("Password", "Password"), ("", "Symmetric")])
def test_what_is_encrypted_names_its_token(token, meant):
    hidden = Encrypted("a2V5", "dmFs", token, "ann")
    assert opened(encrypted_envelope(hidden)).encrypted == hidden._replace(token=meant)
