"""XPath 2.0, 3.0 and 3.1 over job objects, by elementpath: slower, and able to say more."""

from sssjob.query.later.query import VERSIONS, LaterQuery

__all__ = ["VERSIONS", "LaterQuery"]
