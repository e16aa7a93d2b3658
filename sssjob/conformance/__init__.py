"""What the standard says, statement by statement, and what an implementation makes of it.

``cases`` reads the statements, each with a document and what must be found in it, from the folder
``conformance``; ``run`` asks sssjob the same; ``export`` writes all of it for an implementation in
any language. ``page`` makes docs/conformance.md.
"""
