from engines import address, kept  # noqa: F401 (fixtures)
