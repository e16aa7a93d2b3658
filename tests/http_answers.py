"""A server on this machine that answers as a test says."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serving(answer):
    """A server on a free port that answers a path with (status, headers, body)."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._answered()

        def do_PUT(self):
            self._answered()

        def _answered(self):
            asked.append(self.path)
            answered = answer(self)
            if answered is None:
                return
            status, headers, body = answered
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
