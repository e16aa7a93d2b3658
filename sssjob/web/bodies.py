"""What comes with a request: read up to a size, for as long as it may take."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

LARGEST = 16 << 20  # bytes
PATIENCE = 30.0  # seconds until all of it has to be there


async def read(asked: Request, *, largest: int = LARGEST, patience: float = PATIENCE) -> bytes:
    """All of it. Raises ``HTTPException``: 413 for too much, 408 for too slow, 400 for a part."""
    told = asked.headers.get("content-length", "")
    if told.isascii() and told.isdecimal() and (len(told) > 18 or int(told) > largest):
        raise _too_large(largest)
    found = bytearray()
    try:
        async with asyncio.timeout(patience):
            async for chunk in asked.stream():
                found += chunk
                if len(found) > largest:
                    raise _too_large(largest)
    except TimeoutError:
        detail = f"What was sent took more than {patience:g} seconds."
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, detail) from None
    except ClientDisconnect:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "What was sent has no end.") from None
    return bytes(found)


def _too_large(largest: int) -> HTTPException:
    detail = f"What was sent has more than {largest} bytes."
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
