import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from http_answers import serving
from waiting import HANG

from sssjob import features
from sssjob.features import keys
from sssjob.features.remote import RemoteOptions, read

QUICK = RemoteOptions(seconds=HANG, all_seconds=HANG)


def files(contents, listing=None):
    def answer(request):
        name = request.path.rpartition("/")[2]
        if not name:
            return (404, {}, b"") if listing is None else (200, {}, listing)
        if name not in contents:
            return 404, {}, b"not here"
        return 200, {"Content-Length": str(len(contents[name]))}, contents[name]

    return answer


VALUES = {"allocated_cpu": b"8\n", "job_id": b"1", "mem_limit_MB": b"4000"}


def test_without_a_list_the_known_keys_of_both_vocabularies_are_asked_for():
    with serving(files(VALUES)) as (url, asked):
        reading = read(f"{url}/jobfeatures", keys.JOB_FEATURES, QUICK)
    assert reading.values == {"allocated_cpu": 8, "job_id": "1", "mem_limit_MB": 4000}
    assert reading.unknown == ()
    assert reading.findings == ()
    names = {*keys.names(keys.JOB_FEATURES), *keys.names(keys.JOB_FEATURES, "v2014")}
    assert {path.rpartition("/")[2] for path in asked} == names | {""}


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(b'["job_id", "volume", "../etc", "README.md"]', id="JSON array"),
        pytest.param(b'{"job_id": "1", "volume": "11"}', id="JSON object"),
        pytest.param(b'<ul><li><a href="job_id">x</a><a href="/j/volume">', id="links"),
        pytest.param(b'<a href="volume">volume</a> <a href="about">about</a>', id="of something"),
    ],
)
def test_a_list_adds_keys_and_takes_none_away(listing):
    with serving(files({**VALUES, "volume": b"11"}, listing)) as (url, asked):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert reading.values == {
        "job_id": "1", "volume": "11", "allocated_cpu": 8, "mem_limit_MB": 4000
    }  # fmt: skip
    assert not {"/../etc", "/README.md", "/etc"} & set(asked)
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("status", [404, 410])
def test_a_key_that_is_gone_is_absent(status):
    with serving(lambda request: (status, {}, b"")) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert (reading.values, reading.unknown, reading.findings) == ({}, (), ())


@pytest.mark.parametrize("status", [404, 410])
def test_a_key_that_is_listed_and_said_to_be_absent_is_unknown(status):
    """Who takes it for absent takes the job for one without that limit."""

    def answer(request):
        is_list = request.path.endswith("/")
        return (200, {}, b'["wall_limit_secs"]') if is_list else (status, {}, b"")

    with serving(answer) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert (reading.values, reading.unknown) == ({}, ("wall_limit_secs",))
    assert "the server lists it, and says that it is absent" in reading.findings[0].message


NGINX = (
    b"<html>\r\n<head><title>Index of /j/</title></head>\r\n<body>\r\n<h1>Index of /j/</h1>"
    b"<hr><pre>"
    b'<a href="../">../</a>\r\n<a href="%s">volume</a>    26-Nov-2026 17:00    2\r\n'
    b"</pre><hr></body>\r\n</html>\r\n"
)
APACHE = (
    b'<table><tr><th><a href="?C=N;O=D">Name</a></th></tr><tr><td><a href="/">Parent Directory</a>'
    b'</td></tr><tr><td valign="top"><img src="/icons/unknown.gif" alt="[   ]"></td><td>'
    b'<a href="%s">volume</a></td><td align="right">2026-11-26 17:00  </td></tr></table>'
)
NGINX_JSON = (
    b'[\n{ "name":"%s", "type":"file", "mtime":"Thu, 26 Nov 2026 17:00:00 GMT", "size":2 }\n]'
)
NGINX_XML = (
    b'<?xml version="1.0"?>\n<list>\n<file mtime="2026-11-26T17:00:00Z" size="2">%s</file>\n</list>'
)
LISTS = {
    "nginx": NGINX, "nginx as JSON": NGINX_JSON, "nginx as JSONP": b"call(" + NGINX_JSON + b");",
    "nginx as XML": NGINX_XML, "Apache": APACHE,
    "Caddy as JSON": b'[{"name":"%s","size":2,"url":"./x","is_dir":false}]',
    "lines": b"job_id\n%s\n", "JSON array": b'["%s"]', "JSON object": b'{"%s": 1}',
    "JSON with a byte order mark": b'\xef\xbb\xbf["%s"]',
    "in single quotes": b"<A HREF='./%s'>x</A>", "without quotes": b"<a href=/j/%s>x</a>",
    "with a query": b'<a href="%s?a=b#c">x</a>',
}  # fmt: skip


@pytest.mark.parametrize("listing", LISTS.values(), ids=LISTS)
def test_a_key_that_is_listed_and_said_to_be_absent_is_unknown_however_it_is_listed(listing):
    with serving(files(VALUES, listing.replace(b"%s", b"wall_limit_secs"))) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert reading.unknown == ("wall_limit_secs",)


@pytest.mark.parametrize("kind", [name for name in LISTS if name != "nginx as JSONP"])
def test_a_key_of_a_server_of_its_own_is_found_however_it_is_listed(kind):
    listing = LISTS[kind].replace(b"%s", b"my_key")
    with serving(files({**VALUES, "my_key": b"11"}, listing)) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert (reading.values["my_key"], reading.unknown) == ("11", ())


SPELLED = [b"wall%5Flimit%5fsecs", b"wall&#95;limit&#x5F;secs", b"%77all_limit_sec%73",
           b"wall&lowbar;limit_secs"]  # fmt: skip


@pytest.mark.parametrize("spelled", SPELLED)
def test_a_name_in_a_list_is_read_in_each_spelling(spelled):
    with serving(files(VALUES, NGINX.replace(b"%s", spelled))) as (url, _):
        assert read(url, keys.JOB_FEATURES, QUICK).unknown == ("wall_limit_secs",)
    own = spelled.replace(b"wall", b"hall").replace(b"%77all", b"%68all")
    listing = NGINX.replace(b"%s", own)
    with serving(files({"hall_limit_secs": b"1"}, listing)) as (url, _):
        assert read(url, keys.JOB_FEATURES, QUICK).values == {"hall_limit_secs": "1"}


def test_escapes_of_JSON_spell_a_name_too():
    with serving(files(VALUES, b'["wall\\u005flimit_secs"]')) as (url, _):
        assert read(url, keys.JOB_FEATURES, QUICK).unknown == ("wall_limit_secs",)


PYTHON = SimpleHTTPRequestHandler


def test_the_list_of_the_server_of_Python_is_read(tmp_path):
    for name in ("job_id", "my_key", "wall_limit_secs"):
        (tmp_path / name).write_text("1")

    class Half(PYTHON):
        def __init__(self, *given):
            super().__init__(*given, directory=tmp_path)

        def send_head(self):
            if "wall_limit_secs" in self.path:
                return self.send_error(404)
            return super().send_head()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Half) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        reading = read(f"http://127.0.0.1:{server.server_port}", keys.JOB_FEATURES, QUICK)
        server.shutdown()
    assert reading.values == {"job_id": "1", "my_key": "1"}
    assert reading.unknown == ("wall_limit_secs",)


def unread(status, listing):
    def answer(request):
        if request.path.endswith("/"):
            return status, {}, listing
        return files(VALUES)(request)

    return answer


@pytest.mark.parametrize(
    ("status", "listing", "why"),
    [
        pytest.param(200, '["job_id"]'.encode("utf-16"), "byte 1 is not UTF-8", id="UTF-16"),
        pytest.param(200, '["job_id"]'.encode("utf-16-le"), "a NUL", id="without a mark"),
        pytest.param(200, '["job_id"]'.encode("utf-32-be"), "a NUL", id="UTF-32"),
        pytest.param(200, '["job_id"]'.encode("cp037"), "is not UTF-8", id="EBCDIC"),
        pytest.param(200, b"x" * (1 << 20) + b"x", "1048576 bytes", id="too long"),
        pytest.param(500, b"", "status 500", id="an error of the server"),
        pytest.param(401, b"", "status 401", id="who asks is not known"),
    ],
)
def test_where_a_list_cannot_be_read_what_is_said_to_be_absent_is_unknown(status, listing, why):
    with serving(unread(status, listing)) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert reading.values == {"allocated_cpu": 8, "job_id": "1", "mem_limit_MB": 4000}
    assert {"wall_limit_secs", "cpu_limit_secs"} <= {*reading.unknown}
    assert not {*reading.values} & {*reading.unknown}
    [finding] = reading.findings
    assert f"the list at {url}/ cannot be read" in finding.message
    assert why in finding.message
    assert "wall_limit_secs" in finding.message


@pytest.mark.parametrize("status", [403, 404, 405, 410])
def test_a_server_that_gives_no_list_is_asked_key_by_key(status):
    with serving(unread(status, b"no list")) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert (reading.unknown, reading.findings) == ((), ())


@pytest.mark.parametrize(
    "page", [b"<![odd[ ]>", b"<a href='http://['>x</a>", b'<a href="', b"[" * 99999, b"<!-" * 9999]
)
def test_no_page_in_the_place_of_a_list_costs_anything(page):
    with serving(files(VALUES, page)) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert (len(reading.values), reading.unknown) == (3, ())


def test_a_part_of_a_value_for_which_nobody_asked_is_no_value():
    with serving(lambda request: (206, {}, b"36")) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert (reading.values, "wall_limit_secs" in reading.unknown) == ({}, True)


LISTED = b'["job_id", "allocated_cpu"]'


def bad_answer(status, headers, body):
    def answer(request):
        if request.path.endswith("/"):
            return 200, {}, LISTED
        if "job_id" in request.path:
            return status, headers, body
        return (200, {}, b"8") if request.path.endswith("/allocated_cpu") else (404, {}, b"")

    return answer


@pytest.mark.parametrize(
    "answer, why",
    [
        pytest.param(bad_answer(500, {}, b"1"), "status 500", id="an error of the server"),
        pytest.param(bad_answer(403, {}, b"1"), "status 403", id="forbidden"),
        pytest.param(bad_answer(200, {}, b"x" * 5000), "4096 bytes", id="too long"),
        pytest.param(bad_answer(200, {}, b"\xff"), "UTF-8", id="not text"),
        pytest.param(
            bad_answer(200, {"Content-Length": "99"}, b"12"), "", id="a length that is a lie"
        ),
        pytest.param(
            bad_answer(302, {"Location": "/job_id"}, b""), "redirects", id="redirects in a circle"
        ),
        pytest.param(
            bad_answer(302, {"Location": "file:///etc/passwd"}, b""),
            "file",
            id="to a file",
        ),
    ],
)
def test_what_keeps_an_answer_away_makes_a_key_unknown_not_absent(answer, why):
    with serving(answer) as (url, _):
        reading = read(url, keys.JOB_FEATURES, QUICK)
    assert reading.values == {"allocated_cpu": 8}
    assert reading.unknown == ("job_id",)
    [finding] = reading.findings
    assert finding.code == "W-UNKNOWN"
    assert why in finding.message


def test_a_few_redirects_are_followed():
    def answer(request):
        if request.path.startswith("/old/"):
            return 301, {"Location": f"/new/{request.path.rpartition('/')[2]}"}, b""
        return files({"job_id": b"1"})(request)

    with serving(answer) as (url, _):
        assert read(f"{url}/old", keys.JOB_FEATURES, QUICK).values == {"job_id": "1"}


def test_no_redirect_leads_from_https_to_http(monkeypatch):
    from sssjob.features import remote

    class Response:
        is_redirect = True
        headers: ClassVar = {"Location": "http://mjf.example.org/job_id"}

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    class Session:
        def request(self, method, url, **options):
            return Response()

    with pytest.raises(remote.NotFetched, match="from https to http"):
        remote._answered(Session(), "https://mjf.example.org/job_id", 9, RemoteOptions())


@pytest.mark.parametrize("trickle", [False, True], ids=["stalls", "sends a byte now and then"])
def test_a_server_that_stalls_is_not_waited_for(trickle):
    over = threading.Event()

    def answer(request):
        while not over.wait(0.05):
            if trickle:
                request.wfile.write(b"H")
                request.wfile.flush()

    with serving(answer) as (url, asked):
        reading = read(url, keys.JOB_FEATURES, RemoteOptions(seconds=0.3, all_seconds=0.5))
        over.set()
    assert reading.values == {}
    assert "allocated_cpu" in reading.unknown
    assert asked in ([], ["/"]), "who does not answer once is not asked again"


def test_nobody_at_the_address_is_told_once():
    with serving(files({})) as (url, _):
        pass
    reading = read(url, keys.JOB_FEATURES, QUICK)
    [finding] = reading.findings
    assert finding.code == "W-UNKNOWN"
    assert url in finding.message
    assert len(reading.unknown) > 10


def test_a_payload_reads_a_server_as_it_reads_a_directory():
    with serving(files(VALUES)) as (url, _):
        found = features.here({"JOBFEATURES": f"{url}/jobfeatures/", "MACHINEFEATURES": url})
    assert found.job == {"allocated_cpu": 8, "job_id": "1", "max_rss_bytes": 4 * 10**9}
    assert found.unknown == ()
