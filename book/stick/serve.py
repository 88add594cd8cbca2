"""Serve the course from this folder, to this machine alone, and open it in the browser.

    python3 serve.py          at http://127.0.0.1:8642/
    python3 serve.py 9000     at another port

It needs Python 3.7 or newer and nothing else; without Python, open site/index.html in a browser.
This file must parse on any Python, since it is what tells the reader that hers is too old.
"""

import os
import sys

HOST, PORT = "127.0.0.1", 8642  # one port every time: what a reader ticked off belongs to it
OLDEST = (3, 7)
SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
WITHOUT = "open site/index.html in a browser to read without running anything"
#: What a system may not know, or know wrongly, by the end of a file's name.
TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
#: They let a page's own Python share memory with what stops it.
HEADERS = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def fail(line):
    """End with one line on standard error."""
    sys.exit("tile-by-tile: " + line)


def port_of(arguments):
    """Return the port that was asked for."""
    text = arguments[0] if arguments else str(PORT)
    if not text.isdigit() or not 1024 <= int(text) <= 65535:
        fail("port %s is not between 1024 and 65535: try `python3 serve.py 9000`" % text)
    return int(text)


def serve(port):
    """Serve the folder until Ctrl-C."""
    import webbrowser
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Page(SimpleHTTPRequestHandler):
        extensions_map = dict(SimpleHTTPRequestHandler.extensions_map, **TYPES)

        def __init__(self, *arguments):
            super().__init__(*arguments, directory=SITE)

        def end_headers(self):
            for name, value in HEADERS.items():
                self.send_header(name, value)
            super().end_headers()

        def log_message(self, *arguments):
            pass

    class Server(ThreadingHTTPServer):
        allow_reuse_address = os.name == "posix"  # on Windows it would share a port in use

    try:
        server = Server((HOST, port), Page)
    except OSError:
        fail("port %d is in use: is the course open already? If not, `python3 serve.py %d`"
             % (port, port + 1 if port < 65535 else PORT))  # fmt: skip
    address = "http://%s:%d/" % (HOST, port)
    print("Read and run the course at " + address)
    print("Ctrl-C ends it.")
    sys.stdout.flush()
    webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    if sys.version_info < OLDEST:
        fail("this Python is %d.%d, the server needs %d.%d: install a newer one, or %s"
             % (tuple(sys.version_info[:2]) + OLDEST + (WITHOUT,)))  # fmt: skip
    if not os.path.isfile(os.path.join(SITE, "index.html")):
        fail("%s holds no pages: unpack the whole archive again" % SITE)
    serve(port_of(sys.argv[1:]))
