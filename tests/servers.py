"""Servers that say what they were told to, byte for byte, and keep what they were sent."""

import socket
import threading
from contextlib import contextmanager

from waiting import HANG

from sssjob.rmap.framing import Requests


class Scripted:
    """One answer for each connection; None closes it unread, and no answer at all is silence."""

    def __init__(self, listener, answers):
        self.listener, self.answers = listener, list(answers)
        self.port = listener.getsockname()[1]
        self.requests = []
        self.over = threading.Event()

    def run(self):
        for answer in self.answers:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(HANG)
                if answer is None:
                    continue
                parser = Requests()
                while (request := parser.next()) is None:
                    if not (data := connection.recv(1 << 16)):
                        break
                    parser.feed(data)
                self.requests.append(request)
                if answer:
                    connection.sendall(answer)
                else:
                    self.over.wait(HANG)


@contextmanager
def scripted(*answers):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Scripted(listener, answers)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(HANG)
            assert not thread.is_alive()


def closed_port():
    """A port where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
