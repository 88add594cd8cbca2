"""The fragments of m16n8k16, loaded by hand."""

from kernels.lab.exercises.flaws import Flaw

A0, A1, A2, A3 = (
    f"a[{i}] = A[g{' + 8' if i % 2 else ''}, k + t{' + 4' if i > 1 else ''}]" for i in range(4)
)
B0, B1 = "b[0] = BT[g, k + t]", "b[1] = BT[g, k + t + 4]"
WRONG = [
    ("A in reading order", f"{A1}\n        {A2}",
     "a[1] = A[g, k + t + 4]\n        a[2] = A[g + 8, k + t]", Flaw.WRONG),
    ("upper and lower exchanged", f"{A0}\n        {A1}\n        {A2}\n        {A3}",
     "a[0] = A[g + 8, k + t]\n        a[1] = A[g, k + t]\n"
     "        a[2] = A[g + 8, k + t + 4]\n        a[3] = A[g, k + t + 4]", Flaw.SWAPPED),
    ("B's halves exchanged", f"{B0}\n        {B1}",
     "b[0] = BT[g, k + t + 4]\n        b[1] = BT[g, k + t]", Flaw.WRONG),
    ("B's left half twice", B1, "b[1] = BT[g, k + t]", Flaw.WRONG),
    ("the left half of A alone", f"{A2}\n        {A3}",
     "a[2] = uint32(0)\n        a[3] = uint32(0)", Flaw.WRONG),
    ("no right half of B", B1, "b[1] = uint32(0)", Flaw.WRONG),
    ("eight columns further", A2, "a[2] = A[g, k + t + 8]", (Flaw.OUT_OF_BOUNDS, Flaw.WRONG)),
    ("sixteen rows down", A1, "a[1] = A[g + 16, k + t]", Flaw.OUT_OF_BOUNDS),
    ("g and t exchanged in A", A0, "a[0] = A[t, k + g]", (Flaw.WRONG, Flaw.OUT_OF_BOUNDS)),
    ("g and t exchanged in B", B0, "b[0] = BT[t, k + g]", (Flaw.WRONG, Flaw.OUT_OF_BOUNDS)),
    ("single numbers, not pairs", B0, "b[0] = BT[g, k + 2 * t]",
     (Flaw.WRONG, Flaw.OUT_OF_BOUNDS)),
    ("rows of Bᵀ from the second half", "BT[g, k + t]", "BT[g + 8, k + t]", Flaw.OUT_OF_BOUNDS),
    ("stores one row", "C[g + 8, 2 * t] = acc[2]", "C[g, 2 * t] = acc[2]",
     (Flaw.UNWRITTEN, Flaw.WRONG, Flaw.RACE)),
]  # fmt: skip
RIGHT = [
    ("B first", f"{A0}\n        {A1}\n        {A2}\n        {A3}\n        {B0}\n        {B1}",
     f"{B1}\n        {B0}\n        {A3}\n        {A2}\n        {A1}\n        {A0}"),
    ("in loops", f"{A0}\n        {A1}\n        {A2}\n        {A3}\n        {B0}\n        {B1}",
     "for i in range(4):\n            a[i] = A[g + i % 2 * 8, k + t + i // 2 * 4]\n"
     "        for i in range(2):\n            b[i] = BT[g, k + t + i * 4]"),
]  # fmt: skip
