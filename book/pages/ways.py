"""All ways to run a page in one menu, each with what it asks for.

Without scripts it is a fold of links; live.js puts what runs in the page before them.
"""

from __future__ import annotations

from html import escape

from bs4 import BeautifulSoup, Comment, Tag

#: What a badge of the chapters becomes: its name in the menu, and what it asks for.
BADGES = {
    "Open in Colab": (
        "Colab, with a GPU",
        "Asks for a Google account. Its machine takes minutes to start.",
    ),
    "Open in Binder": (
        "Binder, as a notebook",
        "No account and no GPU. Its machine takes minutes to start.",
    ),
    "Source on GitHub": ("The source on GitHub", "To read, or to open in an editor."),
}
YOURS = (
    "Your machine",
    "Download the course, or <code>git clone {repository}</code>. Then <code>make serve</code>: it "
    "installs what the pages need, and uses your GPU if there is one.",
)


def gather(body: Tag, repository: str, megabytes: str) -> None:
    """Make one menu of the badges under a page's title, and keep the place of what runs it.

    Parameters
    ----------
    body : Tag
        The page's body.
    repository : str
        The address of the course's repository.
    megabytes : str
        What the page's own Python loads on first use; empty where there is none.
    """
    places = body.h1.find_next_siblings(string=lambda text: isinstance(text, Comment))
    place = next((note for note in places if note.strip() == "badges"), body.h1)
    badges = place.find_next_sibling("p") if place is not body.h1 else None
    links = badges.find_all("a") if badges and badges.a else []
    entries = [_entry(link["href"], *BADGES[link.text]) for link in links if link.text in BADGES]
    yours = YOURS[1].format(repository=escape(repository))
    entries.insert(1, _entry(f"{repository}/archive/refs/heads/main.zip", YOURS[0], yours))
    bar = BeautifulSoup(
        f'<div class="live-bar"><details class="ways" data-megabytes="{megabytes}">'
        f"<summary>Run this page</summary><ul>{''.join(entries)}</ul></details></div>",
        "html.parser",
    )
    if links:
        badges.replace_with(bar)
    else:
        place.insert_after(bar)


def _entry(address: str, name: str, asks: str) -> str:
    return f'<li><a href="{escape(address)}">{name}</a><small>{asks}</small></li>'
