"""New jobs take the place of old ones, and every other byte stays."""

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from strategies import documents

from sssjob import spec
from sssjob.document import loads, read, splice
from sssjob.errors import UnreadableDocument
from sssjob.model import Job, JobGroup, Property, Reference

NAMESPACE = spec.NAMESPACES[-1]
JOB = "<Job><Id>1</Id></Job>"
BETWEEN = st.sampled_from(["", "\n", " \r\n", "<!-- <Job> -->", "<?job <Job>?>\n", "\n\n"])
jobs_and_groups = documents(("Job", "JobGroup")).map(
    lambda root: etree.tostring(root, encoding="unicode", with_tail=False)
)


def spliced(data, tmp_path, change=lambda block: block):
    path = tmp_path / "jobs.xml"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return b"".join(splice.rewrite(path, change))


def ended(block):
    """The block, each of its jobs with an ExitCode."""
    if type(block) is Job:
        return block.setting(Property("ExitCode", "0", namespace=block.namespace))
    if type(block) is JobGroup:
        return block.holding(map(ended, block.items))
    return block


@pytest.fixture(params=[7, 64, 1 << 16], ids=lambda size: f"{size} bytes at a time")
def chunk(request, monkeypatch):
    monkeypatch.setattr(splice, "CHUNK", request.param)


many = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@many
@given(st.lists(st.tuples(jobs_and_groups, BETWEEN), min_size=1, max_size=4), st.booleans())
def test_where_nothing_changes_every_byte_stays(tmp_path, chunk, parts, wrapped):
    text = "".join(job + between for job, between in parts)
    data = f"<!-- first --><Jobs>{text}</Jobs>\n" if wrapped else text
    assert spliced(data, tmp_path).decode() == data


@many
@given(st.lists(st.tuples(jobs_and_groups, BETWEEN), min_size=1, max_size=4), st.booleans())
def test_changed_jobs_read_back_and_what_is_between_them_stays(tmp_path, chunk, parts, wrapped):
    text = "".join(job + between for job, between in parts)
    data = f"<Jobs>{text}</Jobs>" if wrapped else text
    changed = spliced(data, tmp_path, ended)
    assert list(read(changed)) == [ended(block) for block in read(data.encode())]
    assert changed.count(b"<!-- <Job> -->") == data.count("<!-- <Job> -->")
    assert changed.count(b"<?job <Job>?>") == data.count("<?job <Job>?>")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            f"<a>\n    {JOB}\n</a>", "<a>\n    <Job><Id>1</Id><ExitCode>0</ExitCode></Job>\n</a>",
            id="on one line",
        ),
        pytest.param(
            "<a>\r\n\t<Job>\r\n\t<Id>1</Id></Job></a>",
            "<a>\r\n\t<Job>\r\n\t<Id>1</Id>\r\n\t<ExitCode>0</ExitCode></Job></a>",
            id="on several lines",
        ),
        pytest.param(
            f"<a xmlns='{NAMESPACE}' xmlns:x='urn:x'><Job><Id>1</Id><x:y/></Job></a>",
            f"<a xmlns='{NAMESPACE}' xmlns:x='urn:x'>"
            "<Job><Id>1</Id><x:y/><ExitCode>0</ExitCode></Job></a>",
            id="namespaces of the wrapper",
        ),
        pytest.param(
            f"<s:a xmlns:s='{NAMESPACE}'><s:Job><s:Id>1</s:Id></s:Job></s:a>",
            f"<s:a xmlns:s='{NAMESPACE}'><s:Job><s:Id>1</s:Id>"
            "<s:ExitCode>0</s:ExitCode></s:Job></s:a>",
            id="prefixes",
        ),
        pytest.param(
            "<a xmlns='urn:x'><Job xmlns=''><Id>1</Id></Job></a>",
            "<a xmlns='urn:x'><Job xmlns=''><Id>1</Id><ExitCode>0</ExitCode></Job></a>",
            id="no namespace in a default one",
        ),
        pytest.param(
            f"<JobGroup><Id>g</Id>\n<Job>2</Job>{JOB}<!-- c --></JobGroup >\n",
            "<JobGroup><Id>g</Id>\n<Job>2</Job><Job><Id>1</Id><ExitCode>0</ExitCode></Job>"
            "<!-- c --></JobGroup >\n",
            id="a group with a reference",
        ),
        pytest.param(
            "<Job/><Job a='>'/>",
            "<Job><ExitCode>0</ExitCode></Job><Job a=\"&gt;\"><ExitCode>0</ExitCode></Job>",
            id="without content",
        ),
        pytest.param(
            f"<TaskGroup>{JOB}</TaskGroup>", f"<TaskGroup>{JOB}</TaskGroup>",
            id="a part that holds a job",
        ),
        pytest.param(
            f"<a><b>{JOB}</b></a>", "<a><b><Job><Id>1</Id><ExitCode>0</ExitCode></Job></b></a>",
            id="deep inside",
        ),
        pytest.param("<Job><Id>1&#10;</Id></Job>\n<Job/>\n",
                     "<Job><Id>1&#10;</Id><ExitCode>0</ExitCode></Job>\n"
                     "<Job><ExitCode>0</ExitCode></Job>\n", id="a document stays on its line"),
    ],
)  # fmt: skip
def test_a_new_job_looks_like_what_is_around_it(tmp_path, chunk, data, expected):
    assert spliced(data, tmp_path, ended).decode() == expected


def meant(block):
    """The group with a job in the place of each reference to one."""
    if type(block) is not JobGroup:
        return block
    new = loads("<Job><Id>1</Id><User>u</User></Job>")
    return block.holding(new if isinstance(item, Reference) else item for item in block.items)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            "<JobGroup>\n  <Id>g</Id>\n  <Job>\n   1\n  </Job>\n</JobGroup>",
            "<JobGroup>\n  <Id>g</Id>\n"
            "  <Job>\n    <Id>1</Id>\n    <User>u</User>\n  </Job>\n</JobGroup>",
            id="on several lines, as far into them as it was",
        ),
        pytest.param(
            "<JobGroup>\n  <Id>g</Id><Job>\n   1\n  </Job>\n</JobGroup>",
            "<JobGroup>\n  <Id>g</Id><Job>\n  <Id>1</Id>\n  <User>u</User>\n</Job>\n</JobGroup>",
            id="behind something else",
        ),
        pytest.param(
            "<JobGroup>\n\t<Id>g</Id>\n\t<Job>\r\n1</Job>\n</JobGroup>",
            "<JobGroup>\n\t<Id>g</Id>\n"
            "\t<Job>\r\n\t  <Id>1</Id>\r\n\t  <User>u</User>\r\n\t</Job>\n</JobGroup>",
            id="with its ends of lines",
        ),
        pytest.param(
            "<JobGroup>\n\t<Id>g</Id>\n\t<Job>1</Job>\n</JobGroup>",
            "<JobGroup>\n\t<Id>g</Id>\n\t<Job><Id>1</Id><User>u</User></Job>\n</JobGroup>",
            id="on one line",
        ),
    ],
)
def test_a_job_in_the_place_of_a_reference_looks_like_it(tmp_path, chunk, data, expected):
    assert spliced(data, tmp_path, meant).decode() == expected


@pytest.mark.parametrize("encoding", ["UTF-16", "ISO-8859-1", "UTF-8-sig", "windows-1252", "ASCII"])
def test_the_encoding_of_the_document_is_kept(tmp_path, chunk, encoding):
    name = encoding.removesuffix("-sig")
    data = f'<?xml version="1.0" encoding="{name}"?>\n<Job>\n<Name>&#xe9;&#x20ac;</Name></Job>'
    if name != "ASCII":
        data = data.replace("&#xe9;", "é")
    changed = spliced(data.encode(encoding), tmp_path, ended)
    assert changed.decode(encoding).startswith(data.partition("<Job>")[0])
    (job,) = read(changed)
    assert (job.get("Name"), job.get("ExitCode")) == ("é€", "0")


def test_what_was_compressed_is_written_as_it_was_before(tmp_path):
    assert spliced(gzip.compress(JOB.encode()), tmp_path).decode() == JOB


def test_a_broken_document_is_refused(tmp_path):
    with pytest.raises(UnreadableDocument):
        spliced(f"<a>{JOB}<b></a>", tmp_path)


@pytest.mark.parametrize("prefix", ["s", "Job", "myJob", "Jobs"])
@pytest.mark.parametrize("around", ["", " xmlns='urn:x'"])
def test_older_names_are_replaced_whatever_prefix_they_have(tmp_path, around, prefix):
    path = tmp_path / "jobs.xml"
    path.write_text(
        f"<a{around}><{prefix}:Job xmlns:{prefix}='{NAMESPACE}'><{prefix}:JobId>1</{prefix}:JobId>"
        f"<z xmlns=''>2</z></{prefix}:Job></a>"
    )
    written = b"".join(splice.in_present_names(path))
    (job,) = etree.fromstring(written)
    assert [each.tag for each in job] == [f"{{{NAMESPACE}}}Id", "z"]
    assert job.prefix == prefix


def test_defaults_that_change_together_with_jobs_are_written(tmp_path):
    data = (
        "<JobGroup><!-- a --><JobDefaults><User>a</User></JobDefaults>"
        "<Job><Id>1</Id></Job></JobGroup>"
    )

    def change(group):
        return group.holding(
            item.setting(User="b") if isinstance(item, Job) else item for item in group.items
        )

    assert spliced(data.encode(), tmp_path, change) == (
        b"<JobGroup><!-- a --><JobDefaults><User>b</User></JobDefaults>"
        b"<Job><Id>1</Id><User>b</User></Job></JobGroup>"
    )
