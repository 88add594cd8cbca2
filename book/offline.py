"""Pack the built book and a small server into one archive: `make offline`.

What it holds runs from a USB stick, with no network: the pages as they are, `serve.py`, and a
script that starts it on each system. The standard library is enough to pack it.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "_build" / "html"
STICK = Path(__file__).with_name("stick")
NAME = "tile-by-tile"
#: What ends its lines as Windows does, so that Windows reads it.
WINDOWS = (".bat", ".txt")


def pack(book: Path, output: Path) -> int:
    """Write the archive, whole or not at all.

    Parameters
    ----------
    book : Path
        The folder of the built pages.
    output : Path
        The archive.

    Returns
    -------
    int
        How many files it holds.

    Raises
    ------
    OSError
        When the archive cannot be written.
    """
    part = output.with_name(output.name + ".part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(STICK.iterdir()):
                add(archive, path, f"{NAME}/{path.name}")
            for path in sorted(book.rglob("*")):
                if path.is_file():
                    add(archive, path, f"{NAME}/site/{path.relative_to(book).as_posix()}")
            number = len(archive.namelist())
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)
    return number


def add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    """Put a file into the archive, with the right to run what starts the server."""
    content = path.read_bytes()
    if path.parent == STICK and path.suffix in WINDOWS:
        content = content.replace(b"\n", b"\r\n")
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same book, the same bytes
    entry.create_system = 3  # where the rights below mean something
    entry.compress_type = zipfile.ZIP_DEFLATED
    runs = path.parent == STICK and path.suffix in (".sh", ".command")
    entry.external_attr = (0o755 if runs else 0o644) << 16
    archive.writestr(entry, content)


def main() -> None:
    """Pack the book."""
    parser = argparse.ArgumentParser(description="Pack the built book and a small server.")
    parser.add_argument("--book", type=Path, default=BOOK, help="the folder of the built pages")
    parser.add_argument("--output", type=Path, default=ROOT / "_build" / f"{NAME}-offline.zip")
    options = parser.parse_args()
    if not (options.book / "index.html").is_file():
        sys.exit(f"no book is built in {options.book}: `make book` first")
    try:
        number = pack(options.book, options.output)
    except OSError as error:
        sys.exit(f"{options.output} could not be written: {error.strerror}")
    print(f"{options.output}: {number} files, {options.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
