"""sbatch and slurmrestd are asked for the same by the same job, and losses are told alike."""

import pytest
from translated import wrapped

from sssjob.document import loads
from sssjob.translate import Settings, read, translate

PRIORITIES = ("0", "1", "+3", "-1", "00", "1.5", "1e2", "5000", *(
    str(number)
    for power in (31, 32, 64)
    for number in range((1 << power) - 4, (1 << power) + 2)
), *(str(-number) for number in range((1 << 31) - 4, (1 << 31) + 2)))  # fmt: skip
VARIABLES = ("A", "_", "a1", "1A", "A-B", "A B", "A.B", "é", "A%", "A;B", "BASH_FUNC_x%%", "")


def of_both(inner):
    """What comes back, and what is told, of a script and of a request."""
    told = []
    for target in ("sbatch", "slurmrest"):
        job = loads(wrapped(inner))
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        (back,) = read(text.encode(), target)
        kept = [
            (item.name, item.text, [(each.attributes["name"], each.text) for each in item.children])
            for item in back.job.properties
            if item.name in ("Priority", "Environment")
        ]
        said = {(loss.path, loss.done, loss.reason) for loss in losses if loss.path != "/Job/Id"}
        told.append((kept, said))
    return told


@pytest.mark.parametrize("number", PRIORITIES)
def test_a_priority_is_one_number_in_a_script_and_in_a_request(number):
    script, request = of_both(f"<Priority>{number}</Priority>")
    assert script == request


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_has_a_name_that_a_shell_takes_in_a_script_and_in_a_request(name):
    script, request = of_both(f'<Environment><Variable name="{name}">1</Variable></Environment>')
    assert bool(script[1]) is bool(request[1])
    assert script[0] == request[0]
