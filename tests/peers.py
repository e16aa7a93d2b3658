"""How real clients read a reply, each by its own rules; what they cannot read fails here.

By the sources of Gold 2.0, of Slurm 1.3 and of Hadoop On Demand.
"""

from lxml import etree


def perl(reply):
    """Gold's Perl client: header line by line, then one chunk; it never looks at the tail."""
    lines, _, rest = reply.partition(b"\r\n\r\n")
    status, *headers = lines.split(b"\r\n")
    assert status.split()[1] == b"200"
    named = dict(line.lower().split(b": ", 1) for line in headers)
    assert named[b"content-type"].startswith(b"text/xml")
    assert named[b"transfer-encoding"] == b"chunked"
    size, _, rest = rest.partition(b"\r\n")
    payload = rest[: int(size, 16)]
    assert len(payload) == int(size, 16)
    return payload


def java(reply):
    """Gold's Java client reads ASCII, and needs a status with a code."""
    assert b"\r\nTransfer-Encoding: chunked\r\n" in reply
    payload = perl(reply)
    payload.decode("ascii")
    assert etree.fromstring(payload).findtext("Body/Response/Status/Code")
    return payload


def c_library(reply):
    """Gold's C library takes the first child of each element, white space included."""
    payload = perl(reply)
    body = etree.fromstring(payload)[0]
    assert (body.tag, body[0].tag) == ("Body", "Response")
    assert body.getparent().text is None
    assert body.text is None
    return payload


def slurm(reply):
    """Slurm's plugin reads 87 bytes, a size up to CR, the payload, and three bytes more."""
    header, rest = reply[:87], reply[87:]
    assert header.endswith(b"\r\n\r")
    size, _, rest = rest.partition(b"\r")
    count = int(size, 16)
    payload, tail = rest[1 : 1 + count], rest[1 + count :]
    assert len(tail) >= 3
    code = payload.split(b"<Code>")[1].split(b"</Code>")[0]
    assert len(code) == 3
    return payload


def hadoop(reply):
    """Hadoop On Demand reads to the end, and takes the third line of what comes as XML."""
    after = reply.partition(b"\r\n\r\n")[2]
    line = after.split(b"\n")[2]
    etree.fromstring(line)
    return line


ALL = {"perl": perl, "java": java, "c": c_library, "slurm": slurm, "hadoop": hadoop}
