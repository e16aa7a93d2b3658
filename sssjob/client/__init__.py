"""Asking a gateway, or a real Gold, over SSSRMAP.

    >>> from sssjob import client
    >>> from sssjob.rmap.message import Get, Object, Request
    >>> asked = Request("Query", "ann", (Object("Job"),), (Get("Id"),))
    >>> gateway = client.Client([client.transport("localhost:7112")])
    >>> gateway.message(asked)[39:83]
    b'<Envelope><Body><Request action="Query" acto'

``rows`` gives what was found, ``call`` the parts of the answer as they come. ``JSONClient`` asks
the pages of a gateway, by a token.
"""

from sssjob.client.calls import Client
from sssjob.client.dialect import GOLD, SSSJOB, Dialect
from sssjob.client.json_requests import JSONClient
from sssjob.client.transports import HTTP, Legacy, Transport, transport

__all__ = [
    "GOLD",
    "HTTP",
    "SSSJOB",
    "Client",
    "Dialect",
    "JSONClient",
    "Legacy",
    "Transport",
    "transport",
]
