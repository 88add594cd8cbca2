"""Numbers to predict about the naive product: chapter 3."""

from kernels.lab.exercises.exercise import NumberExercise

EXERCISES = (
    NumberExercise(
        name="address",
        title="an address, and the same place in the transpose",
        hints=(
            "Strides first: how many bytes is one step down in a matrix of 7 columns, how many one"
            " step right?",
            "The transpose swaps the two strides and moves nothing: element [4, 3] of `A.T` lies"
            " where `A[3, 4]` lies.",
            "The flat formula for 7 × 5 has rows of 5 elements: 4 · 5 + 3. Which row and column of"
            " A, with rows of 7, is that place?",
        ),
        after="A transpose swaps the two strides. If you compute addresses by hand, you must know"
        " which ones apply.",
        answers={"bytes": 100, "flat_place": 23, "fetched_row": 3, "fetched_col": 2},
        mistakes={
            ("bytes", 25): "those are elements; each has 4 bytes",
            ("bytes", 92): "a row of A has 7 elements, not 5",
            ("bytes", 124): "that is A[4, 3]: the row comes first",
            ("flat_place", 25): "that is where it lies; the formula for 7 × 5 has rows of 5",
            ("flat_place", 31): "a row of a 7 × 5 matrix has 5 elements",
        },
    ),
    NumberExercise(
        name="launch",
        title="a grid, and what swapping x and y does to it",
        hints=(
            "x covers columns, y covers rows. Divide and round up, twice.",
            "Threads: grid times block in each direction. Those that own nothing are the threads"
            " less the elements.",
            "Exchanged, the grid is (`cdiv(1000, 32)`, `cdiv(300, 8)`) = (32, 38). Its 38 blocks"
            " of 8"
            " along y end at row 303.",
        ),
        after="Nothing crashes, thanks to the guard, but some rows are never written. A C full of"
        " NaN shows it at once.",
        answers={"grid_x": 10, "grid_y": 125, "own_nothing": 20_000, "rows_lost": 696},
        mistakes={
            ("grid_x", 9): "rounded down: the last columns have no thread",
            ("grid_x", 32): "x covers the columns, and there are 300 of them",
            ("grid_y", 38): "y covers the rows, and there are 1000 of them",
            ("rows_lost", 304): "those are the rows that are written",
            ("rows_lost", 695): "rows 304 to 999, both included",
        },
    ),
    NumberExercise(
        name="warp-shapes",
        title="the sectors of a warp of another shape",
        hints=(
            "A warp is 32 threads in order of x, then y. With (8, 32) it is 8 columns wide and 4"
            " rows high.",
            "In a step of k, each row of the warp costs one sector of A; every 8 neighbouring"
            " columns cost one sector of B.",
            "(32, 8): 1 + 4. (16, 16): 2 + 2. (8, 32): 4 + 1. And with (1, 256) the warp is one"
            " column of 32 rows.",
        ),
        after="What matters to memory is the shape of the warp, not that of the block.",
        answers={"x32_y8": 5, "x16_y16": 4, "x8_y32": 5, "x1_y256": 33},
        mistakes={
            ("x32_y8", 2): "those are lines of 128 bytes; count sectors of 32",
            ("x32_y8", 33): "x runs fastest: this warp is one row of 32 columns",
            ("x32_y8", 64): "lanes that need the same sector share it",
            ("x16_y16", 5): "the warp is 16 columns wide and 2 rows high: 2 of A, 2 of B",
            ("x1_y256", 64): "all rows of the warp read the same element of B: one sector",
            ("x1_y256", 257): "a warp has 32 threads, whatever the block",
            ("x8_y32", 33): "a warp has 32 threads, 8 wide and 4 high, whatever the block",
        },
    ),
)
