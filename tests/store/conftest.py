from engines import address, kept, postgresql_server  # noqa: F401 (fixtures)
