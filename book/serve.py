"""The book and its live kernels on this machine: `make serve`.

One Jupyter server on the loopback address does both: it serves the built pages, compressed, and
runs the kernels of those who hold its random token. Pages of any other origin are refused by
it.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import sys
from pathlib import Path

from jupyter_core.paths import jupyter_runtime_dir
from jupyter_server.serverapp import ServerApp
from tornado.web import RedirectHandler, StaticFileHandler
from traitlets.config import Config

from book.build import ROOT, build, pages_python

HOST = "127.0.0.1"


class Page(StaticFileHandler):
    """A file of the book, asked for anew on each visit so that a new build shows."""

    def set_extra_headers(self, path: str) -> None:
        """Let the browser keep a file, but ask whether it changed; let pages be isolated.

        An isolated page may share memory with its own Python, and interrupt it.
        """
        self.set_header("Cache-Control", "no-cache")
        self.set_header("Cross-Origin-Opener-Policy", "same-origin")
        self.set_header("Cross-Origin-Embedder-Policy", "require-corp")


def free(port: int) -> bool:
    """Return whether a port of the loopback address is free."""
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def transport() -> str:
    """Return how to reach kernels: by sockets that only their owner can open, if paths allow."""
    longest = len(jupyter_runtime_dir()) + len("/kernel-.json-ipc-1") + 36
    return "ipc" if os.name == "posix" and longest < 100 else "tcp"


def server(pages: Path, port: int, token: str) -> ServerApp:
    """Return a Jupyter server that also serves the book, ready to start.

    Parameters
    ----------
    pages : Path
        The built book.
    port : int
        Where to listen, on the loopback address only.
    token : str
        What a page must show before the server runs anything.
    """
    app = ServerApp.instance(log_level="ERROR")
    settings = Config(
        {
            "ServerApp": {
                "ip": HOST,
                "port": port,
                "port_retries": 0,
                "allow_origin": f"http://{HOST}:{port}",
                "open_browser": False,
                "root_dir": str(ROOT),
                "default_url": "/book/index.html",
                "allow_root": True,
                "jpserver_extensions": {},
                "terminals_enabled": False,
                "tornado_settings": {"compress_response": True},
            },
            "IdentityProvider": {"token": token},
            "KernelManager": {"transport": transport()},
        }
    )
    app.update_config(settings)
    app.initialize(argv=[], find_extensions=False)
    files = {"path": str(pages), "default_filename": "index.html"}
    book = [(r"/book", RedirectHandler, {"url": "/book/"}), (r"/book/(.*)", Page, files)]
    app.web_app.add_handlers(".*$", book)
    return app


def main() -> None:
    """Build the book and serve it until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Serve the book and its live kernels.")
    parser.add_argument("--port", default="8000")
    parser.add_argument("--source", type=Path, default=ROOT, help="the folder of the pages")
    parser.add_argument("--output", type=Path, default=ROOT, help="where to build the book")
    options = parser.parse_args()
    port = int(options.port) if options.port.isdecimal() else 0
    if not 1024 <= port <= 65535:
        sys.exit(f"port {options.port} is not between 1024 and 65535: try `make serve PORT=8001`")
    if not free(port):
        other = port + 1 if port < 65535 else 8001
        sys.exit(f"port {port} is in use: try `make serve PORT={other}`")
    print("Building the book …", flush=True)
    pages = build(options.source.resolve(), options.output.resolve(), pages_python())
    token = secrets.token_urlsafe(24)
    app = server(pages, port, token)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: app.stop(from_signal=True))

    def announce() -> None:
        print(f"Read and run the course at http://{HOST}:{port}/book/?token={token}")
        print("Ctrl-C ends it.", flush=True)

    app.io_loop.add_callback(announce)  # after the callback by which the server binds its port
    app.start()


if __name__ == "__main__":
    main()
