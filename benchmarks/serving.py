"""A server of features asked without a pause, against the same framework with a constant.

Both answer the same bytes over one connection that stays. The CPU time is that of the server and of
its client, which is the same program for both.
"""

import tempfile
from pathlib import Path

from _measure import Case, compare, options, program

# The framework with a handler that knows its answer; the same headers, so the same bytes.
BOUND = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("ETag", 'W/"18a3c5d7e9f0a1b2-3"')
        self.send_header("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"16\\n")
    def log_message(self, *arguments):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
"""
OURS = """
import sys
from sssjob.features.answers import Answers, by_address
from sssjob.features.serve import Server
server = Server(Answers(sys.argv[1], by_address), "127.0.0.1", 0)
"""
RUN = """
import subprocess, threading
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
command = [sys.executable, "-S", "-c", sys.argv[3], str(server.server_address[1]), sys.argv[2]]
subprocess.run(command, check=True)
"""
CLIENT = """
import socket, sys
request = b"GET /machinefeatures/total_cpu HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    for _ in range(int(sys.argv[2])):
        connection.sendall(request)
        answer = connection.recv(4096)
        assert answer.endswith(b"\\r\\n\\r\\n16\\n"), answer
"""

if __name__ == "__main__":
    parser = options("Serving features over HTTP")
    parser.add_argument("--requests", type=int, default=20_000, help="(%(default)s)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place, "machinefeatures")
        directory.mkdir()
        (directory / "total_cpu").write_text("16\n")
        count = str(chosen.requests)
        bound = Case("http.server, a constant", program(BOUND + RUN, place, count, CLIENT))
        ours = Case("sssjob features serve", program(OURS + RUN, place, count, CLIENT), aim=2)
        compare([bound, ours], chosen)
