"""Write the course's repository into every place that names it: `make adopt REPO=owner/name`.

The one place is `repository: url:` in `_config.yml`. From it this command writes, in every
chapter, the badges (between `<!-- badges -->` and `<!-- /badges -->` in the first cell) and the
set-up cell (id `set-up`), both inserted where they are missing, and rewrites the addresses in
the pages, the README, the citation file and the Binder files. Without an argument it only
brings everything into agreement.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BRANCH = "main"
PAGES = ["_config.yml", "CITATION.cff", "pyproject.toml", "binder/*", "*.md", "chapters/*.md"]
BADGES = re.compile(r"<!-- badges -->\n.*?<!-- /badges -->", re.DOTALL)
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+")

SET_UP = """\
# set-up: finds the course on this machine; on Colab, fetches it first
import subprocess
import sys
from pathlib import Path

if "google.colab" in sys.modules:
    url, home = "{url}", Path("/content/tile-by-tile")
    if not home.exists() and subprocess.call(["git", "clone", "-q", "--depth=1", url, str(home)]):
        raise RuntimeError(f"could not clone {{url}}: run this cell again once it answers")
else:
    here = Path.cwd()
    home = next((d for d in [here, *here.parents] if (d / "kernels/rungs/order.py").exists()), here)
if sys.path[0] != str(home):
    sys.path.insert(0, str(home))

import kernels

if Path(kernels.__path__[0]).resolve().parent != home.resolve():
    raise ImportError(
        f"`kernels` comes from {{kernels.__path__[0]}}, not from the course in {{home}}: "
        "restart the kernel and run this cell before any other"
    )
"""


@dataclass(frozen=True)
class Repository:
    """A GitHub repository, and the addresses that follow from its name.

    Parameters
    ----------
    name : str
        `owner/name`.
    """

    name: str

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise SystemExit(f"REPO={self.name!r} is not a repository: write REPO=owner/name")

    @property
    def url(self) -> str:
        """The repository on GitHub."""
        return f"https://github.com/{self.name}"

    @property
    def site(self) -> str:
        """The address at which GitHub Pages serves the book, with its last slash."""
        owner, name = self.name.split("/")
        host = f"{owner.lower()}.github.io"
        return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"

    @property
    def set_up(self) -> str:
        """The text of the set-up cell."""
        return SET_UP.format(url=self.url).rstrip("\n")

    def badges(self, path: str) -> str:
        """Return the links that open one page elsewhere, between their markers.

        Parameters
        ----------
        path : str
            The page's path in the repository, such as `chapters/ch03_naive/03-naive.ipynb`.
        """
        links = [
            f"[Open in Colab](https://colab.research.google.com/github/{self.name}/blob/{BRANCH}/{path})",
            f"[Open in Binder](https://mybinder.org/v2/gh/{self.name}/{BRANCH}?labpath={path})",
            f"[Source on GitHub]({self.url}/blob/{BRANCH}/{path})",
        ]
        return "\n".join(["<!-- badges -->", *links, "<!-- /badges -->"])

    def replace(self, old: Repository, text: str) -> str:
        """Return `text` with every address of `old` turned into this repository's."""
        name = re.escape(old.name)
        ours = re.compile(rf"(github\.com/|/github/|/gh/){name}(?!\.?[A-Za-z0-9_-])")
        return ours.sub(rf"\g<1>{self.name}", text.replace(old.site, self.site))


def adopted(root: Path = ROOT) -> Repository:
    """Return the repository that `_config.yml` names."""
    config = (root / "_config.yml").read_text(encoding="utf-8")
    found = re.search(r"^ +url: https://github\.com/(\S+)$", config, re.MULTILINE)
    if not found:
        raise SystemExit(
            "_config.yml names no repository: `repository: url: https://github.com/owner/name`"
        )
    return Repository(found[1])


def write_notebook(path: Path, repository: Repository) -> None:
    """Bring the badges and the set-up cell of one chapter up to date."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    text = "".join(cells[0]["source"])
    if cells[0]["cell_type"] != "markdown" or not text.startswith("# "):
        raise SystemExit(f"{path.name}: the first cell must be Markdown and open with '# title'")
    badges = repository.badges(f"chapters/{path.parent.name}/{path.name}")
    if BADGES.search(text):
        text = BADGES.sub(lambda _: badges, text)
    else:
        title, _, rest = text.partition("\n")
        text = f"{title}\n\n{badges}\n\n{rest.lstrip()}".rstrip("\n")
    cells[0]["source"] = text.splitlines(keepends=True)

    setup = next((cell for cell in cells if cell.get("id") == "set-up"), None)
    if setup is None:
        setup = {
            "cell_type": "code",
            "execution_count": None,
            "id": "set-up",
            "metadata": {},
            "outputs": [],
        }
        cells.insert(1, setup)
    setup["source"] = repository.set_up.splitlines(keepends=True)
    setup["metadata"]["tags"] = ["hide-input"]
    save(path, json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def save(path: Path, text: str) -> None:
    """Write `text` with Unix newlines, unless the file holds it already."""
    if path.read_text(encoding="utf-8") != text:
        path.write_bytes(text.encode())


def adopt(name: str | None = None, root: Path = ROOT) -> Repository:
    """Make the course name one repository everywhere.

    Parameters
    ----------
    name : str, optional
        `owner/name`; the one in `_config.yml` when left out.
    root : Path
        The course's folder.

    Returns
    -------
    Repository
        The repository that every file now names.
    """
    old = adopted(root)
    new = Repository(name.removeprefix("https://github.com/").removesuffix(".git")) if name else old
    for page in sorted(
        {page for pattern in PAGES for page in root.glob(pattern) if page.is_file()}
    ):
        text = new.replace(old, page.read_text(encoding="utf-8"))
        if page.suffix == ".md" and page.name != "README.md":
            badges = new.badges(page.relative_to(root).as_posix())
            text = BADGES.sub(lambda _, badges=badges: badges, text)
        save(page, text)
    for chapter in sorted((root / "chapters").glob("*/*.ipynb")):
        write_notebook(chapter, new)
    return new


if __name__ == "__main__":
    repository = adopt(sys.argv[1] if sys.argv[1:] and sys.argv[1] else None)
    print(f"every chapter and page names {repository.url}, published at {repository.site}")
