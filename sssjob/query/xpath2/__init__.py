"""XPath 2.0, 3.0 and 3.1 over job objects, by elementpath: slower, and able to say more."""

from sssjob.query.xpath2.query import VERSIONS, XPath2Query

__all__ = ["VERSIONS", "XPath2Query"]
