import json
import os
from http import HTTPStatus

import pytest

from sssjob.errors import UnusableInput
from sssjob.features.answers import Answers, ByToken, by_address
from sssjob.features.write import write

TOKEN, OTHER = "a2b4c6d8e0f2a4b6", "ffffffffffffffff"
NAME = "10.0.0.7"


@pytest.fixture
def root(tmp_path):
    (tmp_path / NAME).mkdir()
    (tmp_path / "10.0.0.8" / "jobfeatures").mkdir(parents=True)
    write({"total_cpu": 16, "shutdowntime": 1_900_000_000}, tmp_path / "machinefeatures")
    write({"allocated_cpu": 8, "job_id": "7", "volume": "11"}, tmp_path / NAME / "jobfeatures")
    (tmp_path / "secret").write_text("x")
    return tmp_path


@pytest.fixture
def ask(root):
    answers = Answers(root, by_address, "http://169.254.169.253")

    def get(path, client=NAME, method="GET", **headers):
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        return answers.respond(method, path, client, told)

    return get


@pytest.mark.parametrize(
    "path, body",
    [
        ("/jobfeatures/allocated_cpu", b"8\n"),
        ("/machinefeatures/total_cpu", b"16\n"),
        ("//jobfeatures//job_id", b"7\n"),
        ("/jobfeatures/job_id?x=1", b"7\n"),
        ("/latest/meta-data/machinefeatures", b"http://169.254.169.253/machinefeatures"),
        ("/2009-04-04/meta-data/machinefeatures", b"http://169.254.169.253/machinefeatures"),
        ("/latest/meta-data/jobfeatures", b"http://169.254.169.253/jobfeatures"),
        ("/latest/meta-data/", b"machinefeatures\njobfeatures\n"),
    ],
)
def test_a_path_gives_a_value(ask, path, body):
    response = ask(path)
    assert (response.status, response.body) == (HTTPStatus.OK, body)
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/jobfeatures/absent", "/jobfeatures/../secret", "/../secret", "/secret",
        "/jobfeatures/%2e%2e/secret", "/jobfeatures/.sssjob", "/jobfeatures/a/b", "/other/x",
        "/10.0.0.7/jobfeatures/job_id", "jobfeatures/job_id", "/latest/meta-data/hostname",
        "/jobfeatures/job_id\0", "/jobfeatures/README.md", "/latest", "/openstack/latest",
    ],
)  # fmt: skip
def test_anything_else_is_not_there(ask, path):
    assert ask(path).status == HTTPStatus.NOT_FOUND


def test_everybody_sees_what_is_theirs(ask, root):
    assert ask("/jobfeatures/job_id", client="10.0.0.8").status == HTTPStatus.NOT_FOUND
    assert ask("/machinefeatures/total_cpu", client="10.0.0.9").body == b"16\n"
    assert ask("/jobfeatures/job_id", client=f"::ffff:{NAME}").body == b"7\n"
    assert ask("/jobfeatures/job_id", client="../10.0.0.7").status == HTTPStatus.NOT_FOUND
    write({"total_cpu": 4}, root / NAME / "machinefeatures")
    assert ask("/machinefeatures/total_cpu").body == b"4\n"


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(ask, method):
    response = ask("/jobfeatures/job_id", method=method)
    assert response.status == HTTPStatus.METHOD_NOT_ALLOWED
    assert response.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path, caching",
    [
        ("/jobfeatures/job_id", "max-age=3600"),
        ("/jobfeatures/allocated_cpu", "no-cache"),
        ("/machinefeatures/shutdowntime", "no-cache"),
        ("/machinefeatures/total_cpu", "max-age=3600"),
        ("/jobfeatures/volume", "no-cache"),
        ("/jobfeatures/", "no-cache"),
    ],
)
def test_static_keys_may_be_kept_and_dynamic_ones_are_asked_for_again(ask, path, caching):
    assert ask(path).headers["Cache-Control"] == caching


def test_who_has_a_value_already_is_told_so_until_it_changes(ask, root):
    first = ask("/jobfeatures/job_id")
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    again = ask("/jobfeatures/job_id", If_None_Match=f'"x", {tag}')
    assert (again.status, again.body) == (HTTPStatus.NOT_MODIFIED, b"")
    write({"job_id": "8000"}, root / NAME / "jobfeatures")
    assert ask("/jobfeatures/job_id", If_None_Match=tag).body == b"8000\n"


@pytest.mark.parametrize(
    "path, link", [("/jobfeatures/", "job_id"), ("/jobfeatures", "jobfeatures/job_id")]
)
def test_a_directory_is_a_list_of_links(ask, path, link):
    response = ask(path)
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f'<a href="{link}">job_id</a>'.encode() in response.body
    assert b".sssjob" not in response.body


def test_a_directory_is_json_for_those_who_ask(ask):
    response = ask("/jobfeatures/", Accept="application/json")
    assert json.loads(response.body) == ["allocated_cpu", "job_id", "volume"]
    assert response.headers["Vary"] == "Accept"
    assert json.loads(ask("/", Accept="application/json").body) == [
        "machinefeatures",
        "jobfeatures",
    ]


def test_the_document_of_openstack_holds_directories_and_values(ask):
    meta = json.loads(ask("/openstack/latest/meta_data.json").body)["meta"]
    assert json.loads(ask("/openstack/2012-08-10/meta_data.json").body)["meta"] == meta
    assert meta["machinefeatures"] == "http://169.254.169.253/machinefeatures"
    assert meta["mjf@machinefeatures@total_cpu"] == "16"
    assert meta["mjf@jobfeatures@job_id"] == "7"


def test_no_link_leads_out(ask, root):
    (root / NAME / "jobfeatures" / "leak").symlink_to(root / "secret")
    assert ask("/jobfeatures/leak").status == HTTPStatus.INTERNAL_SERVER_ERROR
    (root / "10.0.0.9").mkdir()
    (root / "10.0.0.9" / "jobfeatures").symlink_to(root / NAME / "jobfeatures")
    refused = ask("/jobfeatures/job_id", client="10.0.0.9")
    assert refused.status == HTTPStatus.INTERNAL_SERVER_ERROR  # 404 would say that nothing limits


def test_a_link_that_leads_nowhere_is_a_key_that_nobody_can_give(ask, root):
    (root / NAME / "jobfeatures" / "wall_limit_secs").symlink_to("nowhere")
    assert ask("/jobfeatures/wall_limit_secs").status == HTTPStatus.INTERNAL_SERVER_ERROR


def test_a_limit_that_a_prolog_could_not_learn_is_a_key_that_nobody_can_give(ask, root):
    (root / NAME / "jobfeatures" / ".unknown").write_text("wall_limit_secs\n")
    unknown = HTTPStatus.INTERNAL_SERVER_ERROR
    for key, status in (
        ("wall_limit_secs", unknown), (".unknown", HTTPStatus.NOT_FOUND),
        ("cpu_limit_secs", HTTPStatus.NOT_FOUND), ("job_id", HTTPStatus.OK),
    ):  # fmt: skip
        assert ask(f"/jobfeatures/{key}").status == status
    # Of a line that is no key nobody knows which limit it was.
    (root / NAME / "jobfeatures" / ".unknown").write_text("max_rss_bytes\n../x\n")
    for key in ("wall_limit_secs", "cpu_limit_secs", "max_rss_bytes"):
        (root / NAME / "jobfeatures" / key).unlink(missing_ok=True)
        assert ask(f"/jobfeatures/{key}").status == unknown
    for key, status in ((".unknown", HTTPStatus.NOT_FOUND), ("job_id", HTTPStatus.OK)):
        assert ask(f"/jobfeatures/{key}").status == status


def test_a_pipe_does_not_stop_the_server(ask, root):
    os.mkfifo(root / NAME / "jobfeatures" / "pipe")
    assert ask("/jobfeatures/pipe").status == HTTPStatus.INTERNAL_SERVER_ERROR


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# whose\n{NAME} {TOKEN}\n\n10.0.0.8 {OTHER} # the other\n")
    return path


def test_a_token_says_whose_features_they_are(root, tokens):
    answers = Answers(root, ByToken(tokens), "https://mjf.example.org")

    def get(path):
        return answers.respond("GET", path, "192.0.2.1", {})

    assert get(f"/{TOKEN}/jobfeatures/job_id").body == b"7\n"
    assert get(f"/{OTHER}/jobfeatures/job_id").status == HTTPStatus.NOT_FOUND
    for path in ("/jobfeatures/job_id", f"/{TOKEN[:-1]}/jobfeatures/job_id", "/"):
        assert get(path).status == HTTPStatus.NOT_FOUND
    assert get(f"/{TOKEN}/latest/meta-data/jobfeatures").body == (
        f"https://mjf.example.org/{TOKEN}/jobfeatures".encode()
    )


def test_a_file_of_tokens_is_read_again_when_it_changes(root, tokens):
    answers = Answers(root, ByToken(tokens))
    tokens.write_text(f"{NAME} {'b' * 40}\n")
    assert answers.respond("GET", f"/{'b' * 40}/jobfeatures/job_id", "", {}).body == b"7\n"
    assert answers.respond("GET", f"/{TOKEN}/jobfeatures/job_id", "", {}).status == 404


@pytest.mark.parametrize(
    "line", ["vm short", f"../x {TOKEN}", f"{TOKEN}", f"vm {TOKEN} more", "vm tökentökentökentöken"]
)
def test_a_bad_line_is_told_by_its_number_and_never_shown(tmp_path, line):
    (tmp_path / "tokens").write_text(f"\n{line}\n")
    with pytest.raises(UnusableInput) as error:
        ByToken(tmp_path / "tokens")
    assert error.value.line == 2
    assert TOKEN not in str(error.value)
