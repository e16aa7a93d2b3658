"""Messages on their way: an outbox as dirq has it, a topic over HTTP, receipts."""
# ruff: noqa: E501 (a row is a line)

import base64
import json
import os
import signal
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner
from killing import killed
from waiting import HANG

from sssjob import atomic
from sssjob.accounting.sending import (
    AcceptedMessage,
    KeptMessage,
    Locked,
    Receipts,
    digest,
    messages,
    parted,
    send,
)
from sssjob.accounting.sending.ams import NotPublished, Topic, publish
from sssjob.accounting.sending.queue import STALE, DirectoryQueue
from sssjob.cli import sssjob
from sssjob.errors import LimitExceeded

HEAD = b"APEL-individual-job-message: v0.3\n"
RECORD = b"LocalJobId: %d\n%%%%\n"


@pytest.fixture
def queue(tmp_path):
    (tmp_path / "out").mkdir()
    return DirectoryQueue(tmp_path / "out")


@pytest.fixture
def theirs(queue):
    """The same queue, as the library of others has it."""
    return pytest.importorskip("dirq.QueueSimple").QueueSimple(str(queue.path))


def test_what_we_put_in_others_take_out(queue, theirs):
    names = [queue.add(text) for text in (b"one", b"two\xff")]
    assert list(theirs) == names
    for name, text in zip(names, (b"one", b"two\xff"), strict=True):
        assert theirs.lock(name)
        assert theirs.get(name) == text
        theirs.remove(name)
    assert list(queue.names()) == []


def test_what_others_put_in_we_take_out(queue, theirs):
    names = [theirs.add(b"one"), theirs.add("tw\u00f6")]
    assert list(queue.names()) == names
    assert queue.lock(names[1])
    assert queue.read(names[1]) == "tw\u00f6".encode()
    queue.remove(names[1])
    assert (theirs.count(), list(queue.names())) == (1, names[:1])


def test_a_message_is_taken_by_one_at_a_time(queue, theirs):
    name = queue.add(b"x")
    assert queue.lock(name)
    assert not theirs.lock(name)
    assert not queue.lock(name)
    queue.unlock(name)
    assert theirs.lock(name)
    assert not queue.lock(name)
    theirs.remove(name)
    assert not queue.lock(name)


def test_what_ended_writers_and_senders_left_goes_when_it_is_old(queue):
    name = queue.add(b"x")
    folder = queue.path / name.split("/")[0]
    queue.lock(name)
    (folder / "0123456789abcd.tmp").write_bytes(b"half")
    (queue.path / "00000001").mkdir()
    queue.purge()
    assert len(os.listdir(folder)) == 3
    assert not (queue.path / "00000001").exists()
    for file in os.scandir(folder):
        os.utime(file, (0, file.stat().st_mtime - STALE - 1))
    queue.purge()
    assert os.listdir(folder) == [name.split("/")[1]]


def killed_in(queue, call, monkeypatch):
    """What a process that puts a message in leaves behind when it is killed in a call."""
    if not (child := os.fork()):
        monkeypatch.setattr(os, call, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        queue.add(b"x")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return [name for _, _, files in os.walk(queue.path) for name in files]


@pytest.mark.parametrize("has_unnamed", [True, False], ids=["unnamed", "named"])
@pytest.mark.parametrize("call", ["write", "fsync", "link"])
def test_a_writer_that_is_killed_leaves_nothing_that_the_next_run_finds(
    queue, call, has_unnamed, monkeypatch
):
    if not has_unnamed:
        monkeypatch.setattr(atomic, "_unnamed", lambda *_: -1)
    left = killed_in(queue, call, monkeypatch)
    assert len(left) == (not has_unnamed)
    assert list(queue.names()) == []
    queue.purge()
    assert [name for _, _, files in os.walk(queue.path) for name in files] == []


def test_what_is_being_written_is_not_taken_away(queue, monkeypatch):
    monkeypatch.setattr(atomic, "_unnamed", lambda *_: -1)
    own = os.fsync

    def fsync(handle):
        queue.purge()
        own(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    [name] = [queue.add(b"x")]
    assert list(queue.names()) == [name]


# fmt: off
MESSAGES = [
    pytest.param(HEAD + RECORD % 1,                            [1],     id="one"),
    pytest.param(HEAD + RECORD % 1 + RECORD % 2,               [2],     id="as-many-as-there-may-be"),
    pytest.param(HEAD + b"".join(RECORD % n for n in range(5)), [2, 2, 1], id="more"),
    pytest.param(HEAD + RECORD % 1 + b"LocalJobId: 2",         [2],     id="no-end"),
    pytest.param(HEAD,                                         [],      id="no-record"),
    pytest.param(b"",                                          [],      id="nothing"),
]
# fmt: on


@pytest.mark.parametrize("text, records", MESSAGES)
def test_a_message_of_many_records_becomes_several(text, records):
    found = list(messages(text.splitlines(keepends=True), 2))
    assert [message.count(b"LocalJobId") for message in found] == records
    assert all(message.startswith(HEAD) for message in found)
    assert b"".join(message.removeprefix(HEAD) for message in found) == text.removeprefix(HEAD)


def test_what_is_no_message_of_APEL_stays_whole():
    assert list(messages([b"<a>\n", b"%%\n", b"</a>\n"], 1)) == [b"<a>\n%%\n</a>\n"]


class Service:
    """A topic that takes messages, or answers what it is told to."""

    def __init__(self):
        self.taken, self.keys, self.answers = [], [], []

    def answer(self, path, key, body):
        assert path == "/v1/projects/p/topics/t:publish"
        if self.answers and (told := self.answers.pop(0)) is not None:
            return told
        (message,) = json.loads(body)["messages"]
        data = base64.b64decode(message["data"])
        self.taken.append((message["attributes"]["empaid"], data))
        self.keys.append(key)
        return 200, json.dumps({"messageIds": [str(len(self.taken))]})


class Server(ThreadingHTTPServer):
    """One that ends with all that it answers, and says nothing of clients that went away."""

    daemon_threads = False

    def handle_error(self, request, address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, address)


@contextmanager
def serving(service):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, text = service.answer(self.path, self.headers.get("x-api-key"), body)
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/projects/p/topics/t:publish"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def topic(service):
    with serving(service) as url:
        yield Topic(url, "secret")


@pytest.fixture
def receipts(tmp_path):
    return Receipts(tmp_path / "receipts.jsonl")


@pytest.mark.parametrize("lines", [
    [b"<a>\n", b"</a>\n"], [b"0123456789"],
    [b"APEL-individual-job-message: v0.3\n", b"a: 1\n", b"b: 1\n", b"%%\n"],
])  # fmt: skip
def test_a_message_that_no_outbox_takes_is_refused_before_it_is_there(lines, monkeypatch):
    size = sum(map(len, lines))
    monkeypatch.setattr("sssjob.accounting.sending.SIZE_LIMIT", size)
    assert b"".join(messages(lines, 1)) == b"".join(lines)
    monkeypatch.setattr("sssjob.accounting.sending.SIZE_LIMIT", size - 1)
    with pytest.raises(LimitExceeded, match="bytes in a message"):
        list(messages(lines, 1))


def test_all_messages_are_published_noted_and_removed(queue, topic, receipts, service):
    names = [queue.add(b"one"), queue.add(b"two")]
    assert list(send(queue, topic, receipts, publish)) == [
        AcceptedMessage(names[0], "1"),
        AcceptedMessage(names[1], "2"),
    ]
    assert service.taken == [(names[0], b"one"), (names[1], b"two")]
    assert service.keys == ["secret", "secret"]
    assert list(queue.names()) == []
    noted = [json.loads(line) for line in receipts.path.read_text().splitlines()]
    assert [(each["message"], each["id"], each["bytes"]) for each in noted] == [
        (names[0], "1", 3), (names[1], "2", 3),
    ]  # fmt: skip
    assert "secret" not in receipts.path.read_text()


def test_a_message_that_is_refused_stays_and_the_next_is_sent(queue, topic, receipts, service):
    names = [queue.add(b"one"), queue.add(b"two")]
    service.answers = [(413, "too\x1b large"), None]
    kept, sent = send(queue, topic, receipts, publish)
    assert isinstance(kept, KeptMessage)
    assert kept.why.endswith("answered 413: too\u241b large")
    assert sent == AcceptedMessage(names[1], "1")
    assert list(queue.names()) == names[:1]
    assert queue.lock(names[0])


@pytest.mark.parametrize("answer", [
    (401, ""), (403, "no"), (404, ""), (500, "x"), (302, ""), (200, "{}"), (200, "no JSON"),
    (200, '{"messageIds": []}'), (200, '{"messageIds": ' + "[" * 100_000),
])  # fmt: skip
def test_a_service_that_takes_nothing_ends_the_sending(queue, topic, receipts, service, answer):
    name = queue.add(b"one")
    service.answers = [answer]
    with pytest.raises(NotPublished, match=r"answered|message id"):
        list(send(queue, topic, receipts, publish))
    assert not receipts.path.exists()
    assert list(send(queue, topic, receipts, publish)) == [AcceptedMessage(name, "1")]


def test_a_sender_that_was_ended_behind_its_note_sends_nothing_again(
    queue, topic, receipts, service
):
    name = queue.add(b"one")
    receipts.add(AcceptedMessage(name, "9"), b"one", topic.url)
    with receipts.path.open("a") as file:
        file.write('{"message": "half')  # and another one, while it wrote
    other = queue.add(b"two")
    assert list(send(queue, topic, receipts, publish)) == [AcceptedMessage(other, "1")]
    assert list(queue.names()) == []
    assert set(receipts.names()) == {name, other}


@pytest.fixture
def no_disk(monkeypatch):
    """Nothing is forced to disk: what a killed process wrote is there without that."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def later(queue):
    """The outbox after so long that nobody is taken to be at a lock any more."""
    for file in queue.path.rglob("*.lck"):
        os.utime(file, (0, file.stat().st_mtime - STALE - 1))


def test_a_sender_killed_at_any_moment_loses_nothing_and_sends_again_only_what_has_no_receipt(
    tmp_path, no_disk
):
    bodies = [b"one", b"two"]

    def outcome(moment):
        place = tmp_path / str(moment)
        queue = DirectoryQueue(place / "outbox")
        names = [queue.add(body) for body in bodies]
        receipts, topic = Receipts(place / "receipts.jsonl"), Topic("http://127.0.0.1/", "secret")
        taken = os.open(place / "taken", os.O_RDWR | os.O_CREAT | os.O_APPEND)

        def take(topic, name, data):
            os.write(taken, json.dumps([name, data.decode()]).encode() + b"\n")
            return "1"

        def told():
            return [tuple(json.loads(line)) for line in (place / "taken").read_text().splitlines()]

        ended = killed(lambda: [*send(queue, topic, receipts, take)], moment)
        before, noted = told(), receipts.names()
        later(queue)
        again = [one.name for one in send(queue, topic, receipts, take)]
        os.close(taken)
        # All was taken, as it was put in; again only what was taken last and has no receipt.
        assert dict(told()) == dict(zip(names, (body.decode() for body in bodies), strict=True))
        assert again == [name for name in names if name not in noted]
        twice = {name for name, _ in before} - set(noted)
        assert twice <= {before[-1][0]} if before else not twice
        assert list(queue.names()) == []
        assert receipts.names() == dict(zip(names, map(digest, bodies), strict=True))
        return ended, len(twice)

    found = []
    while not found or not found[-1][0]:
        found.append(outcome(len(found)))
    assert {count for _, count in found} == {0, 1}


def test_a_writer_killed_at_any_moment_leaves_a_whole_message_or_none(tmp_path, no_disk):
    counts, ended = set(), False
    while not ended:
        queue = DirectoryQueue(tmp_path / str(len(os.listdir(tmp_path))))
        queue.path.mkdir()
        ended = killed(lambda queue=queue: queue.add(b"message" * 1000), len(os.listdir(tmp_path)))
        names = [*queue.names()]
        counts.add(len(names))
        for name in names:
            assert queue.lock(name)
            assert queue.read(name) == b"message" * 1000
            queue.remove(name)
        queue.add(b"next")
        assert len([*queue.names()]) == 1
    assert counts == {0, 1}


def test_a_name_that_another_message_once_had_is_no_receipt(queue, topic, receipts):
    name = queue.add(b"one")
    receipts.add(AcceptedMessage(name, "9"), b"other", topic.url)
    assert list(send(queue, topic, receipts, publish)) == [AcceptedMessage(name, "1")]


def test_what_waits_in_the_outbox_is_not_put_there_again(tmp_path):
    """As where a command was killed while it put parts of a long message in."""
    text = HEAD + b"".join(RECORD % number for number in range(20))
    (tmp_path / "message").write_bytes(text)
    outbox = tmp_path / "out"
    *_, last = parts = [*messages(text.splitlines(keepends=True), 3)]
    for part in parts[:4]:
        DirectoryQueue(outbox).add(part)
    for said in ("put into the outbox: 3 messages, there already: 4", "there already: 7"):
        run = ("send", "--outbox", str(outbox), "--records", "3", str(tmp_path / "message"))
        result = CliRunner().invoke(sssjob, run)
        assert result.exit_code == 0, result.stderr
        assert said in result.stderr
    queue = DirectoryQueue(outbox)
    found = [(outbox / name).read_bytes() for name in queue.names()]
    assert sorted(found) == sorted(parts)
    assert last in found


@pytest.mark.parametrize("sizes", [(3, 4), (4, 3), (1, 20), (20, 1), (7, 1000)])
@pytest.mark.parametrize("taken", [0, 2])
def test_records_that_wait_are_not_put_there_again_in_messages_of_another_size(
    tmp_path, sizes, taken
):
    """As with another ``--records``; those that were sent meanwhile are put there."""
    text = HEAD + b"".join(RECORD % number for number in range(20))
    (tmp_path / "message").write_bytes(text)
    queue = DirectoryQueue(tmp_path / "out")
    for size in sizes:
        run = ("send", "--outbox", str(queue.path), "--records", str(size))
        result = CliRunner().invoke(sssjob, [*run, *[str(tmp_path / "message")] * 2])
        assert result.exit_code == 0, result.stderr
        gone = [*queue.names()][: taken if size == sizes[0] else 0]
        for name in gone:
            queue.lock(name)
            queue.remove(name)
    found = [parted((queue.path / name).read_bytes()) for name in queue.names()]
    assert {head for head, _ in found} == {HEAD}
    assert sorted(part for _, parts in found for part in parts) == sorted(parted(text)[1])


def test_what_is_locked_or_no_file_is_left_alone(queue, topic, receipts, tmp_path):
    names = [queue.add(b"one"), queue.add(b"two")]
    queue.lock(names[0])
    (queue.path / names[1]).unlink()
    (queue.path / names[1]).symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("x")
    locked, kept = send(queue, topic, receipts, publish)
    assert locked == Locked(names[0])
    assert (kept.name, isinstance(kept, KeptMessage)) == (names[1], True)
    assert list(queue.names()) == names


def test_nobody_there_and_nobody_who_answers(queue, receipts):
    queue.add(b"one")
    with pytest.raises(NotPublished, match="refused"):
        list(send(queue, Topic("http://127.0.0.1:1/x"), receipts, publish))


def test_an_answer_that_does_not_come_is_not_waited_for(queue, receipts, service):
    queue.add(b"one")
    come = threading.Event()

    def answer(*_):
        come.wait(HANG)
        return 200, "{}"

    service.answer = answer
    with serving(service) as url:
        try:
            with pytest.raises(NotPublished, match=r"took more than 0\.2 seconds|timed out"):
                list(send(queue, Topic(url, seconds=0.2), receipts, publish))
        finally:
            come.set()


@pytest.mark.parametrize("url", [
    "http://ams.example.org/x", "ftp://localhost/x", "ams.example.org", "https:///x",
    "https://me:you@ams.example.org/x", "https://ams.example.org/x?key=secret", "http://[::1",
])  # fmt: skip
def test_addresses_that_would_tell_a_token_to_others_are_refused(url):
    assert Topic(url).refusal


def run(*arguments, data=b""):
    return CliRunner().invoke(sssjob, ["send", *map(str, arguments)], input=data)


def test_the_command_puts_messages_into_an_outbox_and_sends_them(tmp_path, service):
    out = tmp_path / "out"
    text = HEAD + b"".join(RECORD % number for number in range(3))
    found = run("--outbox", out, "--records", 2, "-", data=text)
    assert (found.exit_code, found.stderr) == (0, "put into the outbox: 2 messages\n")
    (tmp_path / "token").write_text("secret\n")
    with serving(service) as url:
        told = ("--outbox", out, "--to", url, "--token-file", tmp_path / "token")
        assert run(*told).stderr == "sent 2, refused 0\n"
        assert run(*told).stderr == "sent 0, refused 0\n"
        service.answers = [(422, "odd")]
        found = run(*told, "-", data=b"odd")
        assert (found.exit_code, "answered 422: odd" in found.stderr) == (1, True)
        service.answers = [(401, "")]
        assert run(*told).exit_code == 2
        queue = DirectoryQueue(out)
        (name,) = queue.names()
        assert queue.lock(name)
        assert run(*told).stderr == "sent 0, refused 0, left to another sender 1\n"
    assert service.keys == ["secret", "secret"]
    assert len((out / "receipts.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize("arguments, why", [
    (("--outbox", "out"), "name a FILE"),
    (("--outbox", "out", "nothing"), "No such file"),
    (("--outbox", "out", "--to", "http://example.org/x"), "over https"),
    (("--outbox", "out", "--to", "https://h/x", "--token-file", "nothing"), "No such file"),
    (("--outbox", "file", "file"), "Directory 'file' is a file"),
])  # fmt: skip
def test_what_is_not_understood_sends_nothing(tmp_path, monkeypatch, arguments, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    found = run(*arguments)
    assert (found.exit_code, why in found.stderr) == (2, True), found.stderr
    assert not (tmp_path / "out").exists()
