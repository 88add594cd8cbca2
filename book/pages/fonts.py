"""The fonts of the pages: there before the text is drawn, or not at all, so that no line moves.

From a server they are preloaded, and a page that is drawn before they come keeps the reader's own
(``font-display: optional`` in book.css). A page that is opened as a file may not preload them:
there a script holds them, which costs no network.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "static" / "fonts"
#: The faces: family, file, style, and the weights that the file can draw.
FACES = (
    ("Book Serif", "serif", "normal", "400 650"),
    ("Book Serif", "italic", "italic", "400"),
    ("Book Sans", "sans", "normal", "400 700"),
    ("Book Mono", "mono", "normal", "400"),
)
SCRIPT = """for (const [family, style, weight, letters] of %s) {
  const bytes = Uint8Array.from(atob(letters), (each) => each.charCodeAt(0));
  document.fonts.add(new FontFace(family, bytes, { style, weight }));
}
"""
#: Stands before the style sheet, for which it would have to wait.
ASK = """<script>
(function (base) {
  if (location.protocol === "file:") document.write('<script src="' + base + '.js"></' + "script>");
  else %s.forEach(function (name) {
    var link = document.createElement("link");
    link.rel = "preload"; link.as = "font"; link.type = "font/woff2"; link.crossOrigin = "";
    link.href = base + "/" + name + ".woff2";
    document.head.appendChild(link);
  });
})("%s_static/book/fonts");
</script>"""


def ask(page: str) -> str:
    """What the head of a page begins with."""
    return ASK % (json.dumps([file for _, file, _, _ in FACES]), "../" * page.count("/"))


def script() -> str:
    """The script, with every letter in it."""
    faces = [
        (family, style, weight, b64encode((FOLDER / f"{file}.woff2").read_bytes()).decode())
        for family, file, style, weight in FACES
    ]
    return SCRIPT % json.dumps(faces)


def write(static: Path) -> None:
    """Write the script into the site's own folder."""
    (static / "fonts.js").write_text(script(), encoding="utf-8")
