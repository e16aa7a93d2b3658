"""Who is written to about a job: as documents say it (``uri``), and as batch systems do.

A document has a URI, such as ``mailto:amy@example.org``; an option has the address alone. Whoever
reads or writes either asks this module. A user's name without a host is no address of mail: it
stays the text that it is.
"""

from __future__ import annotations

import re

_SCHEME = re.compile(r"mailto:(?://)?")
_ONE = re.compile(r"[^\s/:@-][^\s/:@]*@[^\s/:@]+")
_EACH = r"[^\s/:@,-][^\s/:@,]*@[^\s/:@,]+"
_SEVERAL = re.compile(rf"{_EACH}(?:,{_EACH})*")  # RFC 6068 has commas, too


def to_uri(text: str, *, several: bool = True) -> str:
    """What a document says for the text of an option, of one address or ``several``.

    >>> to_uri("amy@example.org,bob@example.org"), to_uri("amy")
    ('mailto:amy@example.org,bob@example.org', 'amy')
    """
    return f"mailto:{text}" if is_address(text, several=several) else text


def of_uri(uri: str) -> str:
    """What an option says for a ``uri``; of one with another scheme, or with none, the text.

    >>> of_uri("mailto:amy@example.org"), of_uri(" amy "), of_uri("https://example.org")
    ('amy@example.org', 'amy', 'https://example.org')
    """
    text = uri.strip()
    found = _SCHEME.match(text)
    return text[found.end() :] if found else text


def is_address(text: str, *, several: bool = True) -> bool:
    """Whether a text without a scheme is an address of mail, or where that is meant ``several``.

    >>> is_address("a@b"), is_address("a@b,c@d"), is_address("a@b,c@d", several=False)
    (True, True, False)
    """
    return (_SEVERAL if several else _ONE).fullmatch(text) is not None
