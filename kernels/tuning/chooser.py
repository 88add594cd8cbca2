"""Which rung and which tiles for a shape: measured where a record knows it, reckoned elsewhere.

>>> from kernels import matmul
>>> C = matmul(A, B)                            # doctest: +SKIP
>>> print(choose(128, 8192, 8192))              # doctest: +SKIP

A large square product is kind to any large tile. A thin one is not: with 128 rows and tiles of
128×128 there are as many blocks as columns of tiles, and most SMs have nothing to do. Smaller
tiles, or blocks that share one tile's walk along K, keep them busy; which of these wins depends on
all three sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from kernels import host, records
from kernels.backend import cupy, on_gpu
from kernels.backend.device import device
from kernels.basics.files import slug
from kernels.budget import here, product, versions
from kernels.host import check_sizes, half, tuned
from kernels.host.plans import Plans, unowned
from kernels.host.rung import ENGINE_TITLES, Rung, Values
from kernels.rungs.gemm import Epilogue, GemmProduct, apply
from kernels.rungs.order import GENERAL, LADDER
from kernels.tuning import general as general_kernels
from kernels.tuning.predict import predict

#: Rungs below this one are there to be understood, and are never the fastest.
FROM = "thread_tiled"
#: All that may be chosen, by name.
VERSIONS = {**LADDER, **GENERAL}


@dataclass(frozen=True)
class Choice:
    """A version of a rung for one shape.

    Attributes
    ----------
    rung : str
    engine : str
    options : dict of str to int
    why : str
        "tuned", "recorded", "reckoned" (by counts) or "predicted" (by tiles alone).
    seconds : float
        The time measured or predicted there.
    """

    rung: str
    engine: str
    options: Values
    why: str
    seconds: float

    def __str__(self) -> str:
        told = " ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.rung} ({ENGINE_TITLES[self.engine]}) {told}: {self.why}"


def choose(M: int, N: int, K: int, engine: str = "", dtype: str = "float32") -> Choice:
    """The version to use for A (M×K) and B (K×N).

    The fastest of what was measured on this GPU: the versions that its record holds for this very
    shape, and the options that `tune` stored for its class. Where nothing was, the version whose
    budget of cycles promises the least time (`kernels.budget`).

    Parameters
    ----------
    M, N, K : int
    engine : {"numba", "cpp"}, optional
        Either language, where it runs: by default both on a GPU, Numba without one.
    dtype : str
        Number format of A and B.

    Returns
    -------
    Choice

    Raises
    ------
    TypeError, ValueError, RuntimeError, LookupError
        For bad sizes, a language that does not run here, a number format that no rung takes here,
        or sizes that no launch can have.
    """
    check_sizes(M=M, N=N, K=K)
    if engine:
        host.check_engine(engine)
    engines = (engine,) if engine else ("cpp", "numba")
    return _choose(M, N, K, engines, dtype, tuned.stamp())


@lru_cache(maxsize=256)
def _choose(
    M: int, N: int, K: int, engines: tuple[str, ...], dtype: str, stamp: tuned.Stamp
) -> Choice:
    """The choice, made anew when `stamp` says that the file of tuned options has changed."""
    rungs = candidates(dtype, engines)
    if not rungs:
        raise LookupError(f"no rung takes {dtype} here in {' or '.join(engines)}: use float32")
    measured = _tuned(rungs, M, N, K, dtype), _recorded(rungs, M, N, K, dtype)
    # Of equals the tuned one: `min` returns the first.
    fastest = min(filter(None, measured), key=lambda found: found[0], default=None)
    if fastest:
        return fastest[1]
    best = _reckoned(rungs, M, N, K, dtype) or _predicted(rungs, M, N, K)
    if on_gpu and "numba" in engines:
        try:
            other = choose_general(M, N, K, dtype, 0 if "cpp" in engines else 1)
        except LookupError:
            return best
        return other if _trusted(M, N, K, dtype) or other.seconds < best.seconds else best
    return best


#: Multiply-adds from which the ladder's budget leaves out nothing that counts: below, 16 bits take
#: longer than it says, since a ring has to fill and matrices have to come from memory.
LARGE = 1e11


def _trusted(M: int, N: int, K: int, dtype: str) -> bool:
    """Whether the model of the general kernels is taken at its word, whatever a budget promises."""
    chunk = 4 if dtype == "float32" else 8
    return M * N * K < LARGE and (dtype != "float32" or bool(N % chunk or K % chunk))


@lru_cache(maxsize=256)
def choose_general(
    M: int, N: int, K: int, dtype: str = "float32", batch: int = 0, grouped: bool = False
) -> Choice:
    """The tiles of the general product (`kernels.rungs.gemm`) for A (M×K) and B (K×N).

    Parameters
    ----------
    M, N, K : int
    dtype : str
    batch : int
        How many such products are computed at once; 0 for one that is plain, which a rung of the
        ladder may compute as well.
    grouped : bool
        Whether they are a group, of about that many rows each.

    Raises
    ------
    LookupError
        If there is none for this format on this GPU.
    """
    gpu, found = here.gpu_here(), []
    for place, (rung, engine, options) in enumerate(
        general_kernels.versions(dtype, M, N, K, max(1, batch), gpu)
    ):
        # No rung of the ladder has an epilogue, no thin kernel groups, and one takes too long here.
        left_out = ("stream_k",) * bool(batch) + ("gemm_thin",) * grouped
        left_out += ("gemm_f16",) * (not on_gpu)
        if rung.name in left_out:
            continue
        try:
            rung.Options(**options)
            told = general_kernels.seconds(rung, options, M, N, K, dtype, max(1, batch), gpu)
        except (TypeError, ValueError):
            continue  # not on this GPU
        found.append((told, place, rung.name, engine, options))
    if not found:
        raise LookupError(f"no general product of {dtype} here: use a rung of the ladder")
    seconds, _, name, engine, options = min(found)
    return Choice(name, engine, options, "reckoned", seconds)


def candidates(dtype: str, engines: tuple[str, ...]) -> list[tuple[Rung, str]]:
    """The rungs, with the language of each, that may be chosen here."""
    names = list(LADDER)
    worth = names[names.index(FROM) :]
    return [
        (LADDER[name], engine)
        for name in worth
        for engine in engines
        if dtype in LADDER[name].dtypes
        and engine in LADDER[name].engines
        # Where there is no GPU, what needs a certain one is not chosen.
        and (on_gpu or engine == "numba" and LADDER[name].needs == (0, 0))
        and not LADDER[name].missing(dtype)
    ]


def _fits(rung: str, options: Values, M: int, N: int) -> bool:
    """Whether a version can be launched here: files may hold options of another time or size."""
    try:
        LADDER[rung].launch(M, N, **options)
    except (TypeError, ValueError):
        return False
    return True


#: Seconds per multiply-add, and the choice: sizes of one class differ, so their seconds say little.
Ranked = tuple[float, Choice]


def _tuned(rungs: list[tuple[Rung, str]], M: int, N: int, K: int, dtype: str) -> Ranked | None:
    """The fastest of what `tune` stored for this class of shapes."""
    if not on_gpu:
        return None
    kind, known = tuned.shape_class(M, N, K), {(rung.name, engine) for rung, engine in rungs}
    found = [
        entry
        for entry in tuned.known()
        if (entry.dtype, entry.shape) == (dtype, kind)
        and (entry.rung, entry.engine) in known
        and _fits(entry.rung, entry.options, M, N)
    ]
    if not found:
        return None
    pace, best = min(
        ((entry.seconds / prod(entry.size), entry) for entry in found), key=lambda pair: pair[0]
    )
    return pace, Choice(best.rung, best.engine, best.options, "tuned", best.seconds)


def _recorded(rungs: list[tuple[Rung, str]], M: int, N: int, K: int, dtype: str) -> Ranked | None:
    """The fastest version that the record of this GPU holds for this very shape."""
    own = slug(device().name) if on_gpu else records.DEFAULT_GPU
    if own not in records.names():
        return None
    known = {(rung.name, engine) for rung, engine in rungs}
    rows = [
        row
        for row in records.load(own).rows("timings", dtype=dtype, correct=True)
        if (row.rung, row.engine) in known
        and row.options in LADDER[row.rung].chosen(row.engine)
        and (row.M, row.N, row.K) == (M, N, K)
        and _fits(row.rung, row.options, M, N)
    ]
    if not rows:
        return None
    best = min(rows, key=lambda row: row.median)
    choice = Choice(best.rung, best.engine, best.options, "recorded", best.median)
    return best.median / (M * N * K), choice


def _reckoned(rungs: list[tuple[Rung, str]], M: int, N: int, K: int, dtype: str) -> Choice | None:
    """The version whose budget of cycles promises the least time; see `kernels.budget`."""
    try:
        now = here.setting()
    except LookupError:  # no record, or one without what a budget needs
        return None
    found = []
    for place, (rung, engine) in enumerate(rungs):
        for options in _with_splits(rung, engine):
            try:
                rung.launch(M, N, **options)
                known = versions.version(
                    rung, engine, options, now.record, (M, N, K), dtype, now.machine
                )
                told = product.time(
                    rung.Options(**options), known.pace, now.machine, known.resident, (M, N, K),
                    dtype, rung.copies(M, N, K, dtype),
                )  # fmt: skip
            except (LookupError, TypeError, ValueError):
                continue  # never profiled, not on this GPU, or not at these sizes
            found.append((told.seconds, -place, rung.name, engine, options))
    if not found:
        return None
    seconds, _, name, engine, options = _best(found)
    return Choice(name, engine, options, "reckoned", seconds)


def _with_splits(rung: Rung, engine: str) -> list[Values]:
    """The measured sets of options of a rung, and those that differ in the parts of K alone."""
    sets = list(rung.chosen(engine))
    for split in rung.options.get("split", ()):
        sets += [options | {"split": split} for options in rung.chosen(engine)]
    return [options for i, options in enumerate(sets) if options not in sets[:i]]


def _best(found: list[tuple[float, int, str, str, Values]]) -> tuple[float, int, str, str, Values]:
    """The least time; of about equal ones the version highest on the ladder."""
    least = min(seconds for seconds, *_ in found)
    return min((entry for entry in found if entry[0] <= 1.03 * least), key=lambda entry: entry[1])


def _predicted(rungs: list[tuple[Rung, str]], M: int, N: int, K: int) -> Choice:
    """The version with the least predicted time; of equals the one highest on the ladder."""
    gpu, found, why = here.gpu_here(), [], ""
    for place, (rung, engine) in enumerate(rungs):
        for options in rung.chosen(engine):
            try:
                seconds = predict(rung, options, M, N, K, gpu).seconds
            except ValueError as error:
                why = f"{error}"  # not on this GPU, or not at these sizes
                continue
            found.append((seconds, -place, rung.name, engine, options))
    if not found:
        raise LookupError(f"no version of any rung can be launched for {M}×{N}×{K}: {why}")
    seconds, _, name, engine, options = _best(found)
    return Choice(name, engine, options, "predicted", seconds)


class Plan:
    """A product that was prepared once: every call computes it anew, at little cost of the host.

    A call allocates nothing, so a CUDA graph can record it. It launches on CuPy's current stream;
    its memory for copies and partial sums is its own, so it runs on one stream at a time.

    Attributes
    ----------
    choice : Choice
        The version that was chosen.
    out : cupy.ndarray
        Where C goes.
    """

    __slots__ = ("choice", "launch", "out")

    def __init__(self, choice: Choice, launch: Callable[[], object], out) -> None:
        self.choice, self.launch, self.out = choice, launch, out

    def __call__(self):
        """Compute C from what A and B hold now, and return it."""
        self.launch()
        return self.out

    def __repr__(self) -> str:
        return f"<Plan of {'×'.join(map(str, self.out.shape))} by {self.choice}>"


def plan(
    A, B, out=None, engine="", *, bias=None, activation="", alpha=1.0, beta=0.0, sizes=None
) -> Plan:  # fmt: skip
    """Prepare C = act(alpha·A·B + beta·C + bias) for many calls, by the version fit for the shape.

    >>> product = plan(A, B)                        # doctest: +SKIP
    >>> C = product()                               # doctest: +SKIP

    Parameters
    ----------
    A, B : cupy.ndarray, shapes (M, K) and (K, N)
        Formats and batches are those of `matmul`. Of any strides, such as ``B.T``: what no kernel
        can read as it lies is copied by every call.
    out : cupy.ndarray, shape (M, N), optional
        Where C goes: by default a new array of float32.
    engine : {"numba", "cpp"}, optional
        Either language; by default the faster one that runs here.
    bias, activation, alpha, beta
        As in `matmul`.
    sizes : sequence of int, optional
        As in `grouped_matmul`.

    Returns
    -------
    Plan

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError, LookupError
        One line that names the value, the limit and the way out.
    """
    epilogue = Epilogue(bias, activation, alpha, beta)
    inputs = {"A": A, "B": B} | ({} if bias is None else {"bias": bias})
    host.check_on_device(**(inputs if out is None else inputs | {"out": out}))
    if general(A, B, epilogue, sizes):
        found, operands, launch = prepared_general(A, B, out, epilogue, sizes, engine)
        return Plan(found, operands.around(launch), operands.result())
    for name, array in inputs.items():
        host.check_array(array, name, 2, tuple(half.DTYPES) + ("float32",))
    (M, K), (rows, N) = A.shape, B.shape
    if rows != K:
        raise ValueError(
            f"A is {M}×{K} and B is {rows}×{N}: B must have as many rows as A has columns"
        )
    found = choose(M, N, K, engine, half.dtype_of(A))
    out = cupy.empty((M, N), "float32") if out is None else out
    launch = VERSIONS[found.rung].prepare(A, B, out, found.engine, strided=True, **found.options)
    return Plan(found, launch, out)


def general(A, B, epilogue: Epilogue, sizes) -> bool:
    """Whether a product is more than one of two matrices that lie by rows."""
    more = not epilogue.plain or sizes is not None
    more |= 3 in (len(getattr(A, "shape", ())), len(getattr(B, "shape", ())))
    if more or not on_gpu or not all(type(x) is cupy.ndarray for x in (A, B)):
        return more
    dtype = half.dtype_of(A)
    known = any(dtype in rung.dtypes and not rung.missing(dtype) for rung in GENERAL.values())
    return known and not (A.flags.c_contiguous and B.flags.c_contiguous)


def prepared_general(A, B, out, epilogue: Epilogue, sizes, engine: str):
    """Return (choice, operands, launch) of a general product.

    On a GPU without a kernel for all of it, one product is a rung of the ladder, and a second
    launch does what follows.
    """
    if engine:
        host.check_engine(engine)
    operands = GemmProduct(A, B, out, epilogue, sizes)
    M, N, K, dtype = operands.M, operands.N, operands.K, operands.format
    try:
        if engine == "cpp":
            raise LookupError("the general product is in Numba: use engine='numba'")
        strips = 1 if sizes is None else len(operands.sizes)
        found = choose_general(
            host.cdiv(M, strips), N, K, dtype, operands.batch * strips, sizes is not None
        )
        rung = GENERAL[found.rung]
        return found, operands, rung.launcher(operands, rung.Options(**found.options))
    except LookupError:
        if operands.batch > 1 or sizes is not None:
            raise
    found = choose(M, N, K, engine, dtype)
    left, right, _, _ = operands.arrays
    sums = operands.workspace((1, M, N))
    rung = VERSIONS[found.rung]
    multiply = rung.prepare(left[0], right[0], sums[0], found.engine, strided=True, **found.options)
    follow = apply(operands, sums)

    def both() -> None:
        multiply()
        follow()

    return found, operands, both


#: The launches of the latest products on a GPU.
_plans = Plans()


def kept(A, B, out, engine: str, epilogue: Epilogue) -> Callable[[], object] | None:
    """The launch of a product of CuPy arrays, prepared the first time; None where it can't be."""
    stream = cupy.cuda.get_current_stream().ptr
    if stream and cupy.cuda.runtime.streamIsCapturing(stream):
        return None  # a graph outlives what is kept here: for graphs there is `plan`
    bias = epilogue.bias
    # Written out: a loop over the arrays would cost a sixth of the call.
    key = (
        A.data.ptr, A.shape, A.strides, A.dtype, B.data.ptr, B.shape, B.strides, B.dtype,
        out.data.ptr, out.shape, out.strides, out.dtype,
        None if bias is None else (bias.data.ptr, bias.shape, bias.strides, bias.dtype),
        epilogue.activation, epilogue.alpha, epilogue.beta, engine, stream, tuned.stamp(),
    )  # fmt: skip
    launch = _plans.get(key)
    if launch is None:
        arrays = (A, B, out) if bias is None else (A, B, out, bias)
        pool = cupy.get_default_memory_pool()
        before = pool.used_bytes()
        A, B, out, *bias = (
            unowned(x.data.ptr, x.shape, x.strides, x.dtype, x.device.id) for x in arrays
        )
        follows = {} if epilogue.plain else {
            "bias": bias[0] if bias else None, "activation": epilogue.activation,
            "alpha": epilogue.alpha, "beta": epilogue.beta,
        }  # fmt: skip
        try:
            launch = plan(A, B, out, engine=engine, **follows).launch
        except (TypeError, ValueError, LookupError, RuntimeError):
            return None  # `matmul` says what is wrong
        _plans.keep(key, launch, pool.used_bytes() - before)
    return launch


#: What follows a product of which nothing more is asked.
PLAIN = Epilogue()


def matmul(A, B, out=None, engine="", *, bias=None, activation="", alpha=1.0, beta=0.0):
    """Return C = act(alpha·A·B + beta·C + bias), by the version that `choose` picks for the shape.

    Parameters
    ----------
    A, B : array, shapes (M, K) and (K, N)
        NumPy, CuPy or Numba arrays of float32; on a GPU with tensor cores also of float16 or
        bfloat16 (see `kernels.host.half`). Sums are in float32, and so is C. Any strides, such as
        ``B.T``. With a third dimension in front, each of a batch is multiplied, in one launch.
    out : array of float32, or of 16 bits where A and B are, shape (M, N), optional
        Where C goes, on the side where A and B are.
    engine : {"numba", "cpp"}, optional
        Either language; by default the faster one that runs here.
    bias : array of float32, or as A and B, shape (N,), optional
        Added to every row of C.
    activation : {"", "relu", "gelu", "silu"}
        Applied to every element at the end, in float32.
    alpha, beta : float
        Of the product, and of what `out` holds; with beta = 0 it may hold anything.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError, LookupError
        One line that names the value, the limit and the way out.
    """
    epilogue = PLAIN
    if bias is not None or activation or alpha != 1 or beta:
        epilogue = Epilogue(bias, activation, alpha, beta)
    if on_gpu and type(A) is type(B) is type(out) is cupy.ndarray:
        if bias is None or type(bias) is cupy.ndarray:
            launch = kept(A, B, out, engine, epilogue)
            if launch:
                launch()
                return out
    host.check_engine(engine or "numba")
    if general(A, B, epilogue, None):
        return _once(A, B, out, epilogue, None, engine)
    shapes = getattr(A, "shape", ()), getattr(B, "shape", ())
    dtype = half.dtype_of(A) if hasattr(A, "dtype") else ""
    known = any(dtype in rung.dtypes for rung in LADDER.values())
    if not known or [len(shape) for shape in shapes] != [2, 2] or 0 in shapes[0] + shapes[1]:
        # A rung says what is wrong with them.
        return LADDER["tiled"].matmul(A, B, out)
    (M, K), N = shapes[0], shapes[1][1]
    found = choose(M, N, K, engine, dtype)
    return VERSIONS[found.rung].matmul(A, B, out, found.engine, **found.options)


def grouped_matmul(
    A, B, sizes: Sequence[int], out=None, *, bias=None, activation="", alpha=1.0, beta=0.0
):
    """Multiply each group of rows of A with a matrix of its own, in one launch.

    The first ``sizes[0]`` rows of A are multiplied with ``B[0]``, the next ``sizes[1]`` with
    ``B[1]``, and so on: a layer of experts.

    Parameters
    ----------
    A : array, shape (M, K)
    B : array, shape (len(sizes), K, N)
    sizes : sequence of int
        On the host; their sum is M, and each may be 0.
    out, bias, activation, alpha, beta
        As in `matmul`.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError, LookupError
        One line that names the value, the limit and the way out.
    """
    return _once(A, B, out, Epilogue(bias, activation, alpha, beta), sizes, "")


def _once(A, B, out, epilogue: Epilogue, sizes, engine: str):
    """Compute a general product, and return it."""
    _, operands, launch = prepared_general(A, B, out, epilogue, sizes, engine)
    launch()
    return operands.result()
