"""The figure as it starts: picture and sentence, in the places that the script gives them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

from kernels.lab.widgets.micro import current, parts, unpacked


class StoredTraits(NamedTuple):
    """The stored traits of a `Micro`."""

    state: dict[str, Any]

    def html(self) -> str:
        state = self.state
        width, height = state["size"]
        sentence, kinds, _ = current(state["controls"], state["frames"], state["at"])
        longest = max((say for say, *_ in state["frames"]), key=len)
        drawn = "".join(_cells(grid, row) for grid, row in zip(state["grids"], kinds, strict=True))
        drawn += "".join(
            f'<text x="{x}" y="{y}">{escape(text)}</text>' for x, y, text in state["labels"]
        )
        hands = "<label></label>" * len(state["controls"])
        return (
            '<section class="tile-widget micro" role="group" '
            f'aria-label="{escape(state["title"])}"><svg viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{escape(state["alt"])}">'
            f'{drawn}</svg><div class="words"><div class="say"><p>{_words(sentence)}</p>'
            f'<p class="room" aria-hidden="true">{_words(longest)}</p></div>'
            f'<div class="hands">{hands}</div></div></section>'
        )


def still(state: dict[str, Any]) -> Iterable[StoredTraits]:
    yield StoredTraits(state)


def _cells(grid: list, kinds: str) -> str:
    """The cells of a grid, those of a kind as one path, each from the one before: few bytes."""
    x, y, _, columns, width, height = grid
    across, down = width - (width > 4), height - (height > 4)
    drawn: dict[str, str] = {}
    last: dict[str, tuple[float, float]] = {}
    for number, kind in enumerate(unpacked(kinds)):
        here = x + number % columns * width, y + number // columns * height
        was = last.get(kind, (0, 0))
        corner = f"{'m' if kind in last else 'M'}{here[0] - was[0]:g} {here[1] - was[1]:g}"
        drawn[kind] = drawn.get(kind, "") + f"{corner}h{across:g}v{down:g}h-{across:g}z"
        last[kind] = here
    drawn.pop(" ", None)
    return "".join(f'<path data-is="{kind}" d="{d}"/>' for kind, d in drawn.items())


def _words(sentence: str) -> str:
    looks = {"": "{}", "strong": "<b>{}</b>"}
    return "".join(
        looks.get(look, f'<b class="{look}">{{}}</b>').format(escape(text))
        for text, look in parts(sentence)
    )
