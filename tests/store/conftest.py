from engines import address, address_of_made, kept  # noqa: F401 (fixtures)
