"""``sssjob request``: ask a gateway, or a real Gold, over SSSRMAP."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sssjob.addresses import is_url
from sssjob.cli import common, options
from sssjob.cli.ranges import NumberRange, WholeNumber
from sssjob.errors import Severity
from sssjob.users import caller

if TYPE_CHECKING:
    from sssjob.client import Client
    from sssjob.rmap.keys import Key
    from sssjob.rmap.message import Data, Item, Request, Response

_EXTRAS = {"cryptography": "gold", "requests": "http"}  # which extra brings a library


@click.command(
    epilog="""\b
    Examples:
      sssjob request Query Job --get Id --get User --where "State=Idle" --where "Charge>1000"
      sssjob request Query Job --get "Sum(Charge) as Total" --get "GroupBy(User)"
      sssjob request Query Job --where "(User=ann" --where "Or User=bob)" --where "Queue~ba*"
      sssjob request Charge Job --data finished.xml
      sssjob request Modify Job --set Queue=long --where Id=PBS.1234.0
      sssjob request Query Job --http --to https://jobs.example.org/ --token-file my.token
      sssjob request Query User --dialect gold --to gold.example.org:7112 --to b.example.org

    The variables SSSJOB_GATEWAY, SSSJOB_KEY_FILE and SSSJOB_ACTOR may name the server, the key file
    and the actor.

    Exit code: 0 done and found, 1 nothing found, or refused by the server, 2 not understood, or
    no server could be asked.
    """,
)
@click.argument("action")
@click.argument("objects", nargs=-1, required=True, metavar="OBJECT...")
@click.option(
    "--get",
    "gets",
    multiple=True,
    metavar="NAME",
    help="Show this property; OP(NAME) sorts, sums or groups.",
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="XPATH",
    help="Show what an expression finds in each job.",
)
@click.option(
    "--where",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="A condition such as State=Idle; with = != > >= < <= or ~ (* and ? match any letters).",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a property; += and -= add and subtract.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the action, such as ShowHidden=True.",
)
@click.option(
    "--data", "data", metavar="FILE", help='Send the job objects of a file; "-" is standard input.'
)
@click.option("--limit", metavar="N", type=WholeNumber(min=1), help="No more rows than this.")
@click.option(
    "--chunk",
    type=WholeNumber(min=1),
    metavar="ROWS",
    help="Ask for the answer in parts of so many rows.",
)
@click.option(
    "--id",
    "id_",
    default="",
    metavar="TEXT",
    help="The id of the request: an action is done once for it.",
)
@click.option(
    "--to",
    "servers",
    multiple=True,
    metavar="ADDRESS",
    envvar="SSSJOB_GATEWAY",
    help="HOST:PORT, or a URL; several are tried in turn.  [default: localhost:7112]",
)
@click.option(
    "--actor",
    envvar="SSSJOB_ACTOR",
    default=None,
    metavar="NAME",
    help="Who asks.  [default: the name of the user]",
)
@click.option(
    "--key-file",
    envvar="SSSJOB_KEY_FILE",
    metavar="FILE",
    help="The key to sign with; only its owner may read it.",
)
@click.option(
    "--password-file",
    metavar="FILE",
    help="A file with the actor's password, to sign with instead.",
)
@click.option(
    "--http", is_flag=True, help="Ask the pages of a gateway, in JSON: --to is their URL.",
)  # fmt: skip
@click.option(
    "--token-file", metavar="FILE", envvar="SSSJOB_TOKEN_FILE",
    help="The token for --http; only its owner may read it.",
)  # fmt: skip
@click.option(
    "--algorithm",
    type=click.Choice(["HMAC-SHA1", "HMAC-SHA256"]),
    default="HMAC-SHA1",
    show_default=True,
    help="How to sign; the server has to know.",
)
@click.option("--encrypt", is_flag=True, help="Encrypt with triple DES, as old servers expect.")
@click.option(
    "--dialect",
    "dialect_name",
    type=click.Choice(["sssjob", "gold"]),
    default="sssjob",
    show_default=True,
    help="The dialect that the server understands.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=NumberRange(min=0.1),
    default=20.0,
    show_default=True,
    help="Seconds to wait for the next byte.",
)
@click.option(
    "--tries",
    metavar="N",
    type=WholeNumber(min=1),
    default=3,
    show_default=True,
    help="Attempts, where a request may be sent again.",
)
@click.option("--json", "form", flag_value="json", help="Print a JSON array, one object a row.")
@click.option("--jsonl", "form", flag_value="jsonl", help="Print a JSON object each row on a line.")
@click.option("--xml", "form", flag_value="xml", help="Print each row as XML on a line.")
@click.option(
    "--raw",
    "form",
    flag_value="raw",
    help="Print each part of the answer as a Body, one a line.",
)
@click.option("--dry-run", is_flag=True, help="Print the message, and send nothing.")
@options.ALL_FINDINGS
def command(action: str, objects: tuple[str, ...], **given: Any) -> None:
    """Ask a gateway, or a real Gold, over SSSRMAP.

    ACTION is what to do (Query, Create, Modify, Delete, Charge, ...), OBJECT is the kind of object
    (Job). All conditions must hold, unless one begins with Or, AndNot or OrNot, which joins it to
    the one before.
    """
    from sssjob.cli import reply
    from sssjob.errors import InvalidValue, NoReply, Refused

    if given["dry_run"] and given["form"]:
        common.fail(f"--dry-run prints the message, and there is no answer as --{given['form']}")
    try:
        if given["http"]:
            total = _by_http(action, objects, given)
            sys.exit(common.NOTHING if action == "Query" and not total else common.FOUND)
        client, request = _client(given), _request(action, objects, given)
        if given["dry_run"]:
            with common.stdout() as stream:
                stream.write(client.message(request))
            return
        total = reply.FORMS[given["form"] or "table"](_told(client.call(request)))
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]  # an old one may lack a module
        if library not in _EXTRAS:
            raise
        common.fail(f"{library} is not installed: pip install 'sssjob[{_EXTRAS[library]}]'")
    except (InvalidValue, NoReply) as error:
        common.fail(error)
    except Refused as error:
        common.say(f"sssjob: error: {error}")
        sys.exit(common.NOTHING)
    sys.exit(common.NOTHING if action == "Query" and not total else common.FOUND)


def _by_http(action: str, objects: tuple[str, ...], given: dict[str, Any]) -> int:
    """Ask in JSON, print the answer, and count its rows."""
    from sssjob.cli import reply
    from sssjob.client import JSONClient
    from sssjob.errors import BadKeyFile
    from sssjob.rmap.keys import read_key
    from sssjob.rmap.writing import written

    if given["token_file"] is None or len(given["servers"]) != 1 or len(objects) != 1:
        common.fail("--http needs one OBJECT, one --to with the URL of the pages, and --token-file")
    url = given["servers"][0]
    if not is_url(url):
        common.fail(
            f"--to {url}: with --http it is the URL of pages, such as https://jobs.example.org/"
        )
    for name in ("key_file", "password_file", "encrypt", "chunk"):
        if given[name] and name != "key_file":  # a variable may say it
            common.fail(f"--{name.replace('_', '-')} cannot be used with --http")
    try:
        token = read_key(Path(given["token_file"])).decode()
    except (BadKeyFile, UnicodeDecodeError) as error:
        common.fail(error)
    except OSError as error:
        common.fail(common.reason(error))
    client = JSONClient(url, token, given["timeout"], given["tries"])
    data = _data(given["data"], "sssjob", used=False)
    body = client.body(
        action, objects[0], get=given["gets"], path=given["paths"], where=given["conditions"],
        set=given["changes"], option=given["options"], limit=given["limit"],
        data=f"<Data>{''.join(map(written, data.items))}</Data>" if data else "",
    )  # fmt: skip
    if given["dry_run"]:
        common.data(json.dumps(body))
        return 1
    return reply.FORMS[given["form"] or "table"](_told([client.call(body, given["id_"])]))


def _request(action: str, objects: tuple[str, ...], given: dict[str, Any]) -> Request:
    from sssjob.client import terms
    from sssjob.rmap.message import Get, Object, Option, Request

    gets = [*map(terms.get, given["gets"]), *(Get("", path=path) for path in given["paths"])]
    options = [*map(terms.option, given["options"])]
    if given["limit"]:
        options.append(Option("Limit", str(given["limit"])))
    return Request(
        action,
        given["actor"] or _caller(),
        tuple(map(Object, objects)),
        tuple(gets),
        tuple(map(terms.change, given["changes"])),
        terms.wheres(given["conditions"]),
        tuple(options),
        _data(given["data"], given["dialect_name"], used=action == "Charge"),
        chunking=given["chunk"] is not None,
        chunk_size=given["chunk"] or 0,
        id=given["id_"],
    )


def _caller() -> str:
    name = caller()
    if not name:
        common.fail("who asks? This user id has no name here: give --actor NAME")
    return name


def _data(file: str | None, dialect: str, *, used: bool) -> Data | None:
    """The job objects of a file; for Gold in its form, and what that has no place for is said.

    ``used`` says that they are charged for what they used.
    """
    if file is None:
        return None
    from lxml import etree

    from sssjob.client.dialect import flattened
    from sssjob.document import tree
    from sssjob.errors import UnreadableDocument
    from sssjob.rmap.message import Data, DataDocument

    items: list[Item] = []
    (given,) = common.sources([file])
    try:
        for element in tree.units(given.given):
            job = DataDocument(etree.tostring(element, encoding="UTF-8", with_tail=False))
            if dialect != "gold":
                items.append(job)
                continue
            row, lost = flattened(job, used=used)
            items.append(row)
            for name in lost:
                told = f"{common.name_of(given.name)}: warning: Gold has no place for {name}"
                common.say_of(given.name, Severity.WARNING, told)
    except UnreadableDocument as error:
        common.fail(error.finding.in_file(given.name))
    except OSError as error:
        common.fail(common.reason(error))
    if not items:
        common.fail(f"{common.name_of(given.name)}: found no job object")
    return Data(tuple(items))


def _client(given: dict[str, Any]) -> Client:
    from sssjob.client import Client, transport
    from sssjob.client.dialect import DIALECTS

    servers = given["servers"] or ("localhost:7112",)
    try:
        ways = [transport(server, timeout=given["timeout"]) for server in servers]
    except ValueError as error:
        common.fail(f"--to: found {error}, expected HOST:PORT or a URL")
    key = _key(given)
    if given["encrypt"] and key is None:
        common.fail("--encrypt needs a key: give --key-file")
    return Client(
        ways, key, DIALECTS[given["dialect_name"]], password=given["password_file"] is not None,
        encrypted=given["encrypt"], tries=given["tries"],
    )  # fmt: skip


def _key(given: dict[str, Any]) -> Key | None:
    from sssjob.errors import BadKeyFile
    from sssjob.rmap.keys import Algorithm, Key, read_key

    file = given["password_file"] or given["key_file"]
    if file is None:
        return None
    try:
        return Key(read_key(Path(file)), (Algorithm(given["algorithm"]),))
    except BadKeyFile as error:
        common.fail(error)
    except OSError as error:
        common.fail(common.reason(error))


def _told(parts: Iterable[Response]) -> Iterator[Response]:
    """The parts of an answer; a failure is raised, messages and warnings are said."""
    from sssjob.errors import Refused
    from sssjob.rmap.codes import Value

    for part in parts:
        status = part.status
        if status.value is Value.FAILURE:
            raise Refused(status.code, status.message)
        if status.value is Value.WARNING:
            common.say(f"sssjob: warning: {status.message} ({status.code})")
        elif status.message:
            common.say(status.message)
        yield part
