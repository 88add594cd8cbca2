"""A static host for a built book: compressed, as the published one, with or without isolation."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType

#: With these a page may share memory with its worker: a run can be interrupted.
ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
PACKED = (".whl", ".zip", ".gz", ".png")


@lru_cache(maxsize=256)
def sent(path: Path, changed: float) -> bytes:
    """A file as it travels; `changed` is when it last was."""
    data = path.read_bytes()
    return data if path.suffix in PACKED else gzip.compress(data, 6)


class Host(SimpleHTTPRequestHandler):
    """Files of a folder, compressed; some of them with a fault."""

    protocol_version = "HTTP/1.1"
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript",
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def __init__(
        self, *arguments, headers: dict[str, str], faults: dict[str, str], **options
    ) -> None:
        self.added, self.faults = headers, faults
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        """Send a file, with the fault that it may have."""
        path = Path(self.translate_path(self.path))
        fault = self.faults.get(path.name)
        if fault == "gone" or not path.is_file():
            return self.send_error(404)
        data = sent(path, path.stat().st_mtime)
        if fault == "wrong":
            data = (
                gzip.compress(path.read_bytes() + b" ")
                if path.suffix not in PACKED
                else data[:-1] + b" "
            )
        self.send_response(200)
        kind = "text/plain" if fault == "untyped" else self.guess_type(str(path))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=600")
        if path.suffix not in PACKED:
            self.send_header("Content-Encoding", "gzip")
        for name, value in self.added.items():
            self.send_header(name, value)
        self.end_headers()
        if fault == "cut":
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        else:
            self.wfile.write(data)

    def log_message(self, *_) -> None:
        """Say nothing."""


@contextmanager
def hosted(
    folder: Path,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
    faults: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Serve a folder with more headers, and yield its address.

    `faults` names files that are ``gone``, ``cut`` in the middle, ``wrong`` by a byte, or
    ``untyped``: sent as plain text.
    """
    handler = partial(Host, directory=str(folder), headers=headers, faults=faults)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
