"""An S3 server of the machine itself, for one test session: moto, in a thread."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import requests
from waiting import HANG


@contextmanager
def served() -> Iterator[str]:
    """A bucket's address, at a server that the environment names until it is stopped."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    told = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    try:
        with patch.dict(os.environ, told):
            import s3fs

            from sssjob.ledger import places

            # Another server in this process would be remembered, and moto keeps its buckets.
            requests.post(f"http://{host}:{port}/moto-api/reset", timeout=HANG)
            s3fs.S3FileSystem.clear_instance_cache()
            places._s3.cache_clear()
            s3fs.S3FileSystem().mkdir("bucket")
            yield "s3://bucket"
    finally:
        server.stop()
