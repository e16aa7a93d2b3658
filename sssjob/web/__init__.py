"""A store of jobs as pages and as JSON, over HTTP: read only, for one user on this machine.

``app`` puts it together: ``guard`` lets in who knows the token, ``routes`` is the table of what
there is, ``jobs``, ``job`` and ``query`` answer, ``pages`` shows answers as HTML, and ``openapi``
describes the table. What they show is worked out by the verbs, and drawn by the drawing room.
"""
