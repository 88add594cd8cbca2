"""Python's own library for pages: what a start imports is compiled, what nobody reaches is gone.

A page would spend half of its start on compiling. A Python compiles for its own version alone: here
it is Pyodide, under Node (`library.mjs`) with `compiling` inside it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .archives import slim

HERE = Path(__file__).parent
NAME = "python_stdlib.zip"
#: Mail, servers, consoles, test frames, other systems, old encodings.
UNREACHED = re.compile(
    r"^(?:_pyio|_pyrepl/|asyncio/(?:proactor|windows)|bdb|compileall|concurrent/futures/process"
    r"|doctest|ensurepip/|ftplib|http/(?:cookiejar|server)|imaplib|logging/(?:config|handlers)"
    r"|mailbox|modulefinder|multiprocessing/|optparse|pdb|pickletools|poplib|profile|pstats"
    r"|pyodide/console|smtplib|socketserver|turtle|unittest/mock|wave|wsgiref/|xml/dom/|xmlrpc/"
    r"|encodings/(?:big5|cp(?!437)\d|euc|gb|hp_|hz|iso2022|iso8859_(?!1\.|15)|johab|koi|mac_|ptcp|shift|tis))"
)


def library(files: dict[str, bytes]) -> bytes:
    """Write Python's own library for pages.

    Parameters
    ----------
    files : dict of str to bytes
        The files of the page's Python, by name.

    Raises
    ------
    SystemExit
        When they don't start.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, data in files.items():
            (folder / file).write_bytes(data)
        try:
            command = ["node", HERE / "library.mjs", folder, HERE / "compiling.py"]
            subprocess.run(command, check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            said = error.stderr.strip().splitlines() or ["no reason given"]
            sys.exit(f"The pages' own Python doesn't start under Node: {said[-1]}")
        return slim((folder / NAME).read_bytes(), UNREACHED)
