"""A gateway with commands of Slurm that are pretended, and what a client asks it."""

import getpass

from gateways import prepared

from sssjob import client
from sssjob.document import loads
from sssjob.rmap.keys import Key
from sssjob.rmap.message import Data, DataDocument, Get, Object, Request, Where
from sssjob.rmap.writing import written

ME = getpass.getuser()
SETTINGS = """
listen = ["127.0.0.1:0"]

[security]
key = "auth_key"

[store]
address = "jobs.db"

[submission]
to = "slurm"
{account}
{queues}
every = {every}

[actors.maui]
key = "maui.key"
roles = ["scheduler", "remover"]

[roles.remover]
allow = ["Delete Job all", "Delete JobGroup all"]
"""
JOB = "<Job>{}<Executable>/bin/true</Executable></Job>"


def settings(*, account=ME, queues=("batch", "long"), every=3600):
    """The file of a gateway that submits; what is empty is not said."""
    return SETTINGS.format(
        account=f'account = "{account}"' if account else "",
        queues=f"queues = {[*queues]}" if queues else "",
        every=every,
    )


def prepare(folder, **how):
    """Put the file of a gateway, and its keys, into a directory."""
    secrets = {name: f"the {name} of this test\n" for name in ("auth_key", "maui.key")}
    prepared(folder, settings(**how), **secrets)


def ask(port, action, actor="maui", id_="", wheres=(), sets=(), gets=(), job=None, kind="Job"):
    """The code, the message and the jobs of an answer."""
    key = Key(f"the {'maui.key' if actor == 'maui' else 'auth_key'} of this test".encode())
    data = None if job is None else Data((DataDocument(job.encode()),))
    asked = Request(
        action, actor, (Object(kind),), gets, wheres=wheres, sets=sets, data=data, id=id_
    )
    [response] = client.Client([client.Legacy("127.0.0.1", port)], key, tries=1).call(asked)
    rows = () if gets else tuple(loads(written(row)) for row in response.rows)
    return response.status.code, response.status.message, rows or response.rows


def submit(port, inner="", **how):
    return ask(port, "Submit", job=JOB.format(inner), **how)


def order(port, action, which, **how):
    return ask(port, action, wheres=(Where("Id", which),), **how)


def state(port, id_):
    _, _, [row] = ask(port, "Query", wheres=(Where("Id", id_),), gets=(Get("State"),))
    return row.get("State")
