from engines import address, postgresql_server  # noqa: F401 (fixtures)
