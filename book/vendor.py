"""Fetch what comes from npm, pinned and checked: `make vendor` (needs npm).

What is kept is committed, so that neither the tests nor the book need Node or a network. Each
package comes with its licence. The archives of the tests must have the SHA-512 that stands here;
the editor of the pages is bundled from packages whose SHA-512 stand in its `package-lock.json`.
The fonts and the pages' own Python are fetched by the same functions.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "book" / "vendor"
EDITOR = ROOT / "book" / "live" / "page" / "vendor"


@dataclass(frozen=True)
class Package:
    """One npm package: where its files go, which of them, and the SHA-512 of its archive."""

    name: str
    version: str
    sha512: str
    folder: Path
    files: tuple[str, ...]


PACKAGES = [
    Package(
        "axe-core",
        "4.14.1",
        "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
        TESTS / "axe-core",
        ("axe.min.js",),
    ),
]


def download(package: Package, folder: Path) -> Path:
    """Download the archive of a package.

    Parameters
    ----------
    package : Package
        What to fetch.
    folder : Path
        Where to put it.

    Returns
    -------
    Path
        The archive.

    Raises
    ------
    SystemExit
        When the archive is not the one whose hash stands here.
    subprocess.CalledProcessError
        When npm cannot fetch it.
    """
    command = ["npm", "pack", "--silent", "--fetch-retries=1", f"{package.name}@{package.version}"]
    packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return checked(package, folder / packed.stdout.split()[-1])


def checked(package: Package, archive: Path) -> Path:
    """Return the archive of a package, or exit when it is not the one whose hash stands here."""
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != package.sha512:
        sys.exit(f"{package.name}@{package.version} has SHA-512 {found}, not {package.sha512!r}")
    return archive


def fetch(package: Package, folder: Path) -> Path:
    """Download a package into an empty folder, and return it unpacked there."""
    with tarfile.open(download(package, folder)) as files:
        files.extractall(folder, filter="data")
    return folder / "package"


def main() -> None:
    """Replace the vendored files."""
    if not shutil.which("npm"):
        sys.exit("make vendor needs npm, from Node 20 or newer")
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            source = fetch(package, Path(folder))
            shutil.rmtree(package.folder, ignore_errors=True)
            package.folder.mkdir(parents=True)
            for pattern in (*package.files, "LICENSE*"):
                for file in source.glob(pattern):
                    shutil.copy(file, package.folder)
        for script in package.folder.glob("*.js"):
            text = script.read_text(encoding="utf-8")
            script.write_text(
                re.sub(r"\n//# sourceMappingURL=\S+\s*$", "\n", text), encoding="utf-8"
            )
        print(f"{package.name} {package.version}: {package.folder.relative_to(ROOT)}")
    print(f"the editor: {bundle(EDITOR).relative_to(ROOT)}")


def bundle(folder: Path) -> Path:
    """Bundle the `entry.mjs` of a folder with the packages of its lock, and their licences.

    Returns
    -------
    Path
        The one script, beside them.
    """
    made = folder / "codemirror.js"
    with tempfile.TemporaryDirectory() as name:
        there = Path(name)
        for file in ("package.json", "package-lock.json", "entry.mjs"):
            shutil.copy(folder / file, there)
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(install, cwd=there, check=True)
        licences = {path.read_text("utf-8") for path in there.glob("node_modules/**/LICENSE")}
        esbuild = there / "node_modules" / "esbuild"
        licences.discard((esbuild / "LICENSE.md").read_text("utf-8"))
        options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=error"]
        command = ["node", esbuild / "bin" / "esbuild", "entry.mjs", *options, f"--outfile={made}"]
        subprocess.run(command, cwd=there, check=True)
    (folder / "LICENSE").write_text("\n---\n\n".join(sorted(licences)), encoding="utf-8")
    return made


if __name__ == "__main__":
    main()
