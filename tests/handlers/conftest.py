from engines import address_of_made as address  # noqa: F401 (fixtures)
