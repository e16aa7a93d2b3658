"""How the files of tests come to the workers: whole, and each when a worker is about done."""

from itertools import groupby
from operator import attrgetter

from xdist.scheduler import LoadFileScheduling


class Shares(LoadFileScheduling):
    """What pytest-xdist does, which looks through all tests for each one that it gives or gets.

    With fifty thousand of them that is half a minute in which workers wait for the one process that
    gives them work.
    """

    def __init__(self, config, log=None):
        super().__init__(config, log)
        self.places = {}  # of each worker: where its collection has a test

    def add_node_collection(self, node, collection):
        super().add_node_collection(node, collection)
        self.places[node] = {name: place for place, name in enumerate(collection)}

    def mark_test_complete(self, node, item_index, duration=0):
        name = self.registered_collections[node][item_index]
        given = self.assigned_work[node]
        file = self._split_scope(name)
        del given[file][name]  # so that what is left is what is pending
        if not given[file]:
            del given[file]
        self._reschedule(node)

    def _reschedule(self, node):
        if node not in self.places:  # it comes in the place of one that ended, and still collects
            return
        super()._reschedule(node)
        # A worker begins a test when it knows the next one, and a file may have a single one. Where
        # no other worker is left that goes on, pytest-xdist waits for ever here.
        while (
            self.workqueue
            and not node.shutting_down
            and self._pending_of(self.assigned_work[node]) < 2
        ):
            self._assign_work_unit(node)

    def _assign_work_unit(self, node):
        file, names = self.workqueue.popitem(last=False)
        self.assigned_work[node][file] = names
        node.send_runtest_some([self.places[node][name] for name in names])

    def _pending_of(self, workload):
        return sum(map(len, workload.values()))


def turned(found, worker):
    """What was found in a directory, by paths, from that on where a worker's share of them begins.

    ``worker`` is what pytest-xdist tells it of itself, and is empty where there are no workers.
    """
    of_path = attrgetter("path")
    files = [[*each] for _, each in groupby(sorted(found, key=of_path), of_path)]
    number = int(worker.get("workerid", "gw0").removeprefix("gw"))
    first = len(files) * number // max(worker.get("workercount", 1), number + 1)
    return [each for file in files[first:] + files[:first] for each in file]
