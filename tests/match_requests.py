"""Random requests and offers, for tests that compare evaluators."""

from sssjob.model import Property

WORDS = ["EQ", "NE", "LT", "LE", "GT", "GE"]
FACTS = {"Queue": ("a", "b"), "Feature": ("ib", "ssd", "gpu"), "Node": ("n1", "n2")}
HALVES = ("0", "0.5", "1", "1.5", "2", "3", "3.5", "4")
COUNTS = ("0", "1", "2", "3", "4")
OFFERED = {
    "Processors": (None, "-1", *COUNTS, "5"), "Disk": (None, "-1", *HALVES, "4.5"),
    "Memory": (None, "0", "1", "2", "3.5", "5"),
}  # fmt: skip
WANTED = {"Processors": COUNTS, "Disk": HALVES, "Memory": HALVES, "Resource": HALVES}


def requested(choose):
    """Up to seven elements with any op, conj, group and preference."""
    count = choose.choice((1, 2, 3, 4, 4, 5, 6, 7))
    names = choose.sample(
        ("Processors", "Disk", "Memory", "Resource", *FACTS), choose.randint(1, 3)
    )
    depth, items = 0, []
    for index in range(count):
        name, attributes = choose.choice(names), {}
        if name in FACTS:
            op, text = choose.choice(("EQ", "EQ", "NE", "Match")), choose.choice(FACTS[name])
            text = f"{text[0]}.*" if op == "Match" else text
        else:
            op, text = choose.choice(WORDS), choose.choice(WANTED[name])
        if name == "Resource":
            attributes["name"] = choose.choice("xy")
        attributes["op"] = op
        group = -depth if index == count - 1 else choose.choice((0, 0, 0, 1, 1, 2, -1, -1, -2))
        group = max(group, -depth)
        depth += group
        if group:
            attributes["group"] = str(group)
        if choose.random() < 0.6:
            attributes["conj"] = choose.choice(("And", "Or", "Or", "Nand", "Nor"))
        if choose.random() < 0.5:
            attributes["preference"] = choose.choice(("1", "2", "3", "-1", "-2", "-3"))
        items.append(Property(name, text, attributes))
    return items


def offered(choose):
    """Amounts and facts; some are absent, zero, negative, or known to be none."""
    items, none = [], []
    for name, values in OFFERED.items():
        value = choose.choice(values)
        items += [] if value is None else [Property(name, value)]
    for name in "xy":
        value = choose.choice((None, "0", "1", "2.5", "5"))
        items += [] if value is None else [Property("Resource", value, {"name": name})]
    for name, texts in FACTS.items():
        several = choose.randint(0, 2) if name == "Feature" else choose.randint(0, 1)
        items += [Property(name, text) for text in choose.sample(texts, several)]
        none += [name] if name == "Feature" and not several and choose.random() < 0.5 else []
    return items, none
