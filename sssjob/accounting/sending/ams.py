"""Messages published to a topic over HTTP, as the ARGO Messaging Service takes them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.parse import urlsplit

from sssjob.errors import SSSJobError
from sssjob.visible import visible

_ANSWER_LIMIT = 1 << 20
_SHOWN = 200  # characters of an answer that are told
_ABOUT_MESSAGE = (400, 413, 422)  # others are about who sends, where to, or the service itself
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Topic:
    """Where messages are published, ``https://HOST/v1/projects/P/topics/T:publish``, and as whom.

    ``authority`` is a file of certificates that are trusted instead of the usual ones.
    """

    url: str
    token: str = ""
    authority: str = ""
    seconds: float = 60.0

    @property
    def refusal(self) -> str:
        """Why nothing is sent there; "" if it may be."""
        try:
            parts = urlsplit(self.url)
            local = parts.hostname in _LOCAL
        except ValueError as error:
            return str(error)
        if parts.scheme not in ("https", "http") or not parts.hostname:
            return "no address such as https://ams.example.org/v1/projects/p/topics/t:publish"
        if parts.scheme == "http" and not local:
            return "messages and tokens go over https, or to this machine"
        if parts.username is not None or parts.query:
            return "it holds a login or a key: name a file with the token"
        return ""


class NotPublished(SSSJobError, RuntimeError):
    """A message that was not taken: ``is_about_message`` where others may be."""

    def __init__(self, reason: str, is_about_message: bool = False) -> None:
        super().__init__(reason, is_about_message)
        self.reason, self.is_about_message = reason, is_about_message

    def __str__(self) -> str:
        return self.reason


def publish(topic: Topic, name: str, data: bytes) -> str:
    """Publish a message; gives the number that it got. Needs ``requests`` (``sssjob[http]``).

    Raises ``NotPublished``.
    """
    if topic.refusal:
        raise NotPublished(f"{topic.url}: {topic.refusal}")
    if find_spec("requests") is None:  # of what is missing in a thread, nobody hears
        raise NotPublished("requests is not installed: pip install 'sssjob[http]'")
    # A server that sends a byte now and then satisfies every time limit of a socket.
    answer: SimpleQueue[tuple[int, bytes] | str] = SimpleQueue()
    Thread(target=_post, args=(answer, topic, name, data), daemon=True).start()
    try:
        found = answer.get(timeout=topic.seconds)
    except Empty:
        raise NotPublished(f"{topic.url} took more than {topic.seconds:g} seconds") from None
    if isinstance(found, str):
        raise NotPublished(f"{topic.url}: {found}")
    return _number(topic, *found)


def _post(
    answer: SimpleQueue[tuple[int, bytes] | str], topic: Topic, name: str, data: bytes
) -> None:  # fmt: skip
    import requests
    import urllib3

    body = {"messages": [{"attributes": {"empaid": name}, "data": base64.b64encode(data).decode()}]}
    headers = {"User-Agent": "sssjob", "Accept-Encoding": "identity"}
    if topic.token:
        headers["x-api-key"] = topic.token
    try:
        with requests.Session() as session:
            session.trust_env = False  # neither proxies nor logins from the environment
            with session.post(
                topic.url, json=body, headers=headers, timeout=topic.seconds, stream=True,
                allow_redirects=False, verify=topic.authority or True,
            ) as response:  # fmt: skip
                answer.put((response.status_code, response.raw.read(_ANSWER_LIMIT)))
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        answer.put(str(error))


def _number(topic: Topic, status: int, body: bytes) -> str:
    """The number in an answer. Raises ``NotPublished`` where there is none."""
    if status == 200:
        try:
            (number,) = json.loads(body)["messageIds"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise NotPublished(f"{topic.url}: an answer without a message id") from None
        return str(number)
    said = visible(body[:_SHOWN].decode("utf-8", "replace").strip())
    reason = f"{topic.url} answered {status}{f': {said}' if said else ''}"
    raise NotPublished(reason, status in _ABOUT_MESSAGE)
