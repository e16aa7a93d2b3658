"""What a worker of pytest-xdist tells of one test is one message, and not six.

Each message is written by a program in Python, wakes the process that directs the others, and is
read by a program in Python there: of a small test, that is more work than the test.
"""

import pickle
from functools import partial

WHOLE = "whole_test"  # the name of that message
PARTS = {"logstart", "testreport", "logfinish"}
LAST = "runtest_protocol_complete"  # which a worker sends behind each test


def joined(config):
    """In a worker: what it tells of a test is kept until the test is done."""
    for plugin in config.pluginmanager.get_plugins():
        if hasattr(plugin, "sendevent"):
            plugin.sendevent = partial(_sent, plugin.sendevent, [])


def _sent(send, kept, name, **told):
    if name in PARTS:
        kept.append((name, told))
        return
    if name == LAST:
        kept.append((name, told))
    if kept:
        send(WHOLE, events=pickle.dumps(kept))
        kept.clear()
    if name != LAST:  # a warning, or an end in the middle of a test
        send(name, **told)


def parted(node):
    """In the process that directs the others: each part of what a worker tells is heard."""
    node.process_from_remote = partial(_heard, node.process_from_remote)


def _heard(hear, event):
    if isinstance(event, tuple) and event[0] == WHOLE:
        for each in pickle.loads(event[1]["events"]):
            hear(each)
    else:
        hear(event)
