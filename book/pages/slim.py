"""Pictures as Matplotlib writes them, without what the page's style sheet says anyway."""

from __future__ import annotations

import re

from bs4 import Tag

FONT = re.compile(r"font-family: [^;]*;? ?")
UNTURNED = re.compile(r"rotate\(-?0 [^)]*\)")
#: A command of a path and its numbers; the arcs of hatches, which are short, are left alone.
COMMAND = re.compile(r"([MLQCz])([^A-Za-z]*)")


def dress(body: Tag) -> None:
    """Shorten every drawn picture of a page; it looks as before."""
    for picture in body.select("figure.drawn > svg"):
        for name in ("xmlns", "xmlns:xlink", "version"):
            picture.attrs.pop(name, None)
        for style in picture.select("defs > style"):
            style.decompose()
        for text in picture.select("text[style]"):
            text["style"] = FONT.sub("", text["style"])
            if UNTURNED.fullmatch(text.get("transform", "")):
                del text["transform"]
        for path in picture.select("path[d]"):
            if path.get("style") == "fill: none":  # neither filled nor outlined
                path.decompose()
            elif "a" not in path["d"]:
                path["d"] = shorten(path["d"])
        for group in picture.select("g"):
            if not group.attrs:
                group.unwrap()
        for space in picture.find_all(string=str.isspace):
            space.extract()


def shorten(path: str) -> str:
    """The same path in fewer letters: lines say how far they go, and equal shapes read alike.

    Parameters
    ----------
    path : str
        Absolute commands M, L, Q, C and z: ``"M 1.50 2.00 L 3.00 2.00 z"``.

    Returns
    -------
    str
        Such as ``"M1.5 2h1.5z"``.
    """
    said, here, start = [], (0.0, 0.0), (0.0, 0.0)
    for letter, numbers in COMMAND.findall(path):
        values = [float(number) for number in numbers.split()]
        moved = [round(to - at, 2) for to, at in zip(values, here, strict=False)]
        if letter == "L":
            said.append(_line(*moved))
        elif letter == "M" and said:
            said.append(f"m{moved[0]:g} {moved[1]:g}")
        else:
            said.append(letter + " ".join(f"{value:g}" for value in values))
        here = start if letter == "z" else values[-2:]
        start = here if letter == "M" else start
    return "".join(said)


def _line(across: float, down: float) -> str:
    if not down:
        return f"h{across:g}"
    return f"l{across:g} {down:g}" if across else f"v{down:g}"
