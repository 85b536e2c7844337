"""A real S3 server for tests, with one bucket; what it holds outlives a stop."""

from __future__ import annotations

import logging
import urllib.request

from moto.server import ThreadedMotoServer

__all__ = ["KEYS", "ServedObjects"]

# What the client reads from the environment.
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


class ServedObjects:
    """A server in threads of this process."""

    bucket = "kept"

    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._port = 0
        self.start()
        self.endpoint = f"http://127.0.0.1:{self._port}"
        request = urllib.request.Request(f"{self.endpoint}/{self.bucket}", method="PUT")
        urllib.request.urlopen(request).close()

    def start(self) -> None:
        """Start it, on the same port again."""
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self._port, verbose=False)
        self._server.start()
        _, self._port = self._server.get_host_and_port()

    def stop(self) -> None:
        """Stop it."""
        self._server.stop()
