"""Values of JSON, and what stands at a path in them."""


def nodes(value, path=()):
    """The path of every value in one of JSON."""
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inner:
        yield from nodes(each, (*path, key))


def replaced(value, path, other):
    """A value of JSON with another one at a path."""
    if not path:
        return other
    key, *rest = path
    inner = replaced(value[key], rest, other)
    if isinstance(value, dict):
        return {**value, key: inner}
    return [inner if place == key else each for place, each in enumerate(value)]
