"""One palette: each meaning has one colour, and a hatch for readers and printers without colour.

Colours are mid-tones, at least 3:1 against white and against near-black, so that one drawing serves
the light and the dark page.
"""

from kernels.rungs.order import ENGINE_TITLES as ENGINE_TITLES  # beside the colours of the engines

# Matrices and the things drawn on them. test_the_palette_is_that_of_the_figures names the files
# that repeat them; `make pictures` and `make record` draw anew what is stored.
A, B, C = "#2f80d0", "#c8700a", "#1f9464"
TILE, THREAD = "#9a5fc9", "#d63a5e"
# Engines, in charts: two colours that differ without colour vision, no matter which matrix's.
NUMBA, CPP, LIBRARY = A, B, "#808080"

#: Colour of each meaning.
PALETTE = {
    "A": A, "B": B, "C": C, "tile": TILE, "thread": THREAD,
    "numba": NUMBA, "cpp": CPP, "library": LIBRARY,
}  # fmt: skip
#: Colour of each level of memory, from the nearest to the farthest.
MEMORY = {
    "registers": "#c4437a",
    "shared": "#9a5fc9",
    "L1": "#6676dc",
    "L2": "#2a87b8",
    "global": "#1f9464",
    "host": "#8f7a20",
}
#: Hatch of each meaning, for readers and printers without colour.
HATCH = {
    "A": "//", "B": "\\\\", "C": "..", "tile": "xx", "thread": "",
    "numba": "", "cpp": "//", "library": "..",
}  # fmt: skip

# Stands for "the colour of the page's text" until the SVG is written.
INK = "#010203"
STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.facecolor": "none",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "grid.alpha": 0.25,
    "grid.color": "#808080",
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "tile by tile",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
