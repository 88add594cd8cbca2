"""Chapters that run: in the reader's browser with no server, or in the kernel of one.

`fetch` gets Pyodide and what is compiled for it, pinned by checksums, when the book is built.
`pack` writes what the site serves: the runtime, the wheels, and one archive of the course;
`library` compiles what every start imports of Python's own.
`inpage/` runs inside that Python: the cells, their outputs, the widgets. `page/` are the scripts:
``worker.js`` holds the Python, ``kernel.js`` leads to a server's, the others are the page's own;
nothing of it loads before a reader runs a cell. `book.pages.live` puts the buttons there.
"""
