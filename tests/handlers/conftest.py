from engines import address  # noqa: F401 (fixtures)
