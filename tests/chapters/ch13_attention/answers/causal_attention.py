"""One tile of causal attention."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

BAD = (Flaw.NOT_A_NUMBER, Flaw.WRONG)
WRONG = [
    ("no mask", "if key0 + k <= query:", "if key0 + k < N:", BAD),
    ("not its own key", "key0 + k <= query", "key0 + k < query", BAD),
    ("the key after its own", "key0 + k <= query", "key0 + k <= query + 1", BAD),
    ("the keys after it", "key0 + k <= query", "key0 + k >= query", BAD),
    ("the mask forgets the tile", "key0 + k <= query", "k <= query", BAD),
    ("acc does not rescale", "acc[d] = acc[d] * rescale + weight", "acc[d] = acc[d] + weight", BAD),
    ("the sum does not rescale", "total = total * rescale + weight", "total = total + weight", BAD),
    ("keys in place of values", "weight * sV[k, d]", "weight * sK[k, d]", Flaw.WRONG_OPERAND),
    ("values in place of keys", "q[d] * sK[k, d]", "q[d] * sV[k, d]", Flaw.WRONG_OPERAND),
    ("past the tile", "for k in range(32):", "for k in range(33):", Flaw.OUT_OF_BOUNDS),
    ("float64", "score = float32(0)", "score = 0.0", Flaw.FLOAT64),
    ("weights in half precision", "weight = math.exp(score - above)", "weight = float16(math.exp(score - above))", (Flaw.ROUNDED, Flaw.WRONG)),
    ("keys from global memory", "q[d] * sK[k, d]", "q[d] * K[key0 + k, d]", (Flaw.BUDGET, Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD)),
]  # fmt: skip
RIGHT = [
    ("to the query only", "for k in range(32):\n            if key0 + k <= query:", "for k in range(min(32, query - key0 + 1)):\n            if True:"),
    ("rescales only where the maximum grows", "                rescale = math.exp(largest - above)\n", "                rescale = math.exp(largest - above) if score > largest else float32(1)\n"),
]  # fmt: skip
