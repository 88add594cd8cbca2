"""Cut the fonts of the pages from their packages on npm: `make fonts` (needs npm and uv).

What is kept is committed, as are the scripts of book/vendor.py. Each font is cut to the letters
that the course writes, and given a name of its own, as its licence asks of what was changed. How
wide the letters of pictures are is kept beside it, since reading a font takes a package more.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

from book.vendor import ROOT, Package, fetch

FOLDER = ROOT / "book" / "static" / "fonts"
WIDTHS = ROOT / "book" / "pages" / "widths.json"
ASCII = "".join(map(chr, range(0x20, 0x7F)))
TEXT = ASCII + "\xa0§°²³µ·¹×÷äćéöü–—‘’“”…Σαβγδπ⁰⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄←→−√≤≥≈≠∘⌊⌋"
#: What headings, tables, figures and buttons write.
SIGNS = ASCII + "\xa0§°²³µ·¹×÷ćüé–—‘’“”…π₀₁₂⁴⁶⁸⁹⁻←→−≤≥▶▼✓✗○"
CODE = ASCII + (
    "\xa0§«°²³µ·¹»×÷Éäéöü–—‘’“”…⋯Σαβγπᴷᵀ⁰⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄←↑→↓↳−√≤≥≈≠∞⌈⌉⌊⌋─━│┌┐└┘├┤┬┴┼░▒▓█▏▎▍▌▋▊▉▸▾○●✓✗"
)
SERIF = Package(
    "source-serif",
    "4.5.1",
    "NUAh5IzF7KiUu2gTpqE+ed9MNbMe4st7LIIXZ0OHHSPc6gg86H67j04M8sIhU2qqFd26btXaFQ2ge5u/p72j0Q==",
    FOLDER,
    ("VAR/SourceSerif4Variable-Roman.ttf", "VAR/SourceSerif4Variable-Italic.ttf"),
)
SANS = Package(
    "source-sans",
    "3.52.0",
    "xsm7qlMI/JwxwNdp6pvpR6l+aZjn90fzOzoeUz/qoohIYbKbDwQNRIz5/ItYs7/hvqLirQNUoDFGXSVA3TU9tw==",
    FOLDER,
    ("VF/SourceSans3VF-Upright.ttf",),
)
MONO = Package(
    "jetbrains-mono",
    "1.0.6",
    "nVHwukZwQHKEQ3ZP1qlXFyFoUyBnonwrqLQf/ZlsoDPgTHm7T0EL0m1KJQ9U4ghu4emYuSR21uqmZalzNvvoUA==",
    FOLDER,
    ("fonts/webfonts/JetBrainsMonoNL-Regular.woff2",),  # NL: no ligatures, != stays two signs
)


@dataclass(frozen=True)
class Cut:
    """What is kept of one font: letters, axes, how much larger it is drawn, pairs of letters."""

    name: str
    file: str
    letters: str
    axes: dict[str, float | tuple[float, float]]
    larger: float = 1
    kerned: bool = True


CUTS = {
    SERIF: (
        Cut("serif", SERIF.files[0], TEXT, {"wght": (400, 650), "opsz": 14}),
        Cut("italic", SERIF.files[1], TEXT, {"wght": 400, "opsz": 14}, kerned=False),
    ),
    SANS: (Cut("sans", SANS.files[0], SIGNS, {"wght": (400, 700)}, 1.05),),
    MONO: (Cut("mono", MONO.files[0], CODE, {}),),
}
#: The archive of the mono has the licence of its packager alone; this is the font's.
LICENCES = {
    SERIF: "LICENSE.md",
    SANS: "LICENSE.md",
    MONO: ROOT / "book" / "licences" / "jetbrains-mono.txt",
}


def cut(font: TTFont, kept: Cut) -> TTFont:
    """Return a font with the letters and axes that are kept, under a name of the course's own."""
    if kept.axes:
        font = instantiateVariableFont(font, kept.axes)
    if "gvar" in font:  # glyphs without an outline are left out, and missed
        shapes = font["gvar"].variations
        font["gvar"].variations = {name: shapes.get(name, []) for name in font.getGlyphOrder()}
    options = subset.Options(
        hinting=False,
        layout_features=["ccmp", "liga", "locl", "mark", *["kern"] * kept.kerned],
        name_IDs=[0, 13, 14],
    )
    cutter = subset.Subsetter(options)
    cutter.populate(text=kept.letters)
    cutter.subset(font)
    for number in (1, 4, 6):
        font["name"].setName(f"Tile{kept.name.title()}", number, 3, 1, 0x409)
    font["head"].unitsPerEm = round(font["head"].unitsPerEm / kept.larger)
    font.flavor = "woff2"
    return font


def widths(font: TTFont) -> dict[str, dict[str, float]]:
    """How wide each letter of a font is, a share of its size, at the weights that pictures use."""
    em, found = font["head"].unitsPerEm, {}
    for weight in (400, 700):
        glyphs = font.getGlyphSet(location={"wght": weight})
        found[str(weight)] = {
            chr(code): round(glyphs[name].width / em, 3)
            for code, name in sorted(font.getBestCmap().items())
        }
    return found


def main() -> None:
    """Replace the fonts of the pages, their licences, and the widths of the letters of pictures."""
    FOLDER.mkdir(exist_ok=True)
    for package, cuts in CUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            source = fetch(package, Path(folder))
            for kept in cuts:
                path = FOLDER / f"{kept.name}.woff2"
                cut(TTFont(source / kept.file), kept).save(path)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")
            shutil.copy(source / LICENCES[package], FOLDER / f"LICENSE-{package.name}.txt")
    text = json.dumps(widths(TTFont(FOLDER / "sans.woff2")), ensure_ascii=False)
    WIDTHS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
