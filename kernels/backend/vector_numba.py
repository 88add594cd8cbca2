"""The functions of `kernels.backend.vector` for numba-cuda: LLVM's vector load and store by hand.

An intrinsic writes LLVM code instead of calling it: the address of the first element, seen as
the address of a vector of four floats, aligned to 16 bytes. The compiler makes one
``ld.global.v4.f32`` (or ``ld.shared.v4.f32``) of a load through it.
"""

from llvmlite import ir
from llvmlite.ir.instructions import Branch
from numba import types
from numba.core import cgutils
from numba.cuda.extending import intrinsic

__all__ = ["aligned16", "load4", "load4_guarded", "store4", "store4_guarded", "unrolled"]

FLOAT = ir.FloatType()
FOUR = ir.VectorType(FLOAT, 4)
INT32, INT64 = ir.IntType(32), ir.IntType(64)


def _indices(context, builder, signature, values) -> list:
    """Return row and column as 64-bit integers."""
    kinds = zip(values[1:3], signature.args[1:3], strict=True)
    return [context.cast(builder, value, kind, types.intp) for value, kind in kinds]


def _pointer(context, builder, signature, values):
    """Return the address of ``array[row, col]``."""
    array_type = signature.args[0]
    array = context.make_array(array_type)(context, builder, values[0])
    index = _indices(context, builder, signature, values)
    # Unlike array[row, col] this takes no index from the end: nothing has to be tested.
    return cgutils.get_item_pointer(context, builder, array_type, array, index)


def _pointer4(builder, pointer):
    """Return an address as that of four elements."""
    return builder.bitcast(pointer, FOUR.as_pointer(pointer.type.addrspace))


def _load4(builder, pointer) -> list:
    """Load 16 bytes; return the four elements."""
    vector = builder.load(_pointer4(builder, pointer))
    vector.align = 16
    return [builder.extract_element(vector, INT32(k)) for k in range(4)]


def _store4(builder, pointer, parts) -> None:
    """Store four elements as 16 bytes."""
    vector = ir.Constant(FOUR, ir.Undefined)
    for k, part in enumerate(parts):
        vector = builder.insert_element(vector, part, INT32(k))
    builder.store(vector, _pointer4(builder, pointer)).align = 16


def _guarded(context, builder, signature, values, at_once, one) -> None:
    """Write the branches: four elements `at_once`, or `one` after the other, where inside.

    Parameters
    ----------
    at_once : callable
        Called with the address of the first element, writes the code for all four.
    one : callable
        Called with an address and 0 to 3, writes the code for this one.
    """
    array = context.make_array(signature.args[0])(context, builder, values[0])
    rows, cols = cgutils.unpack_tuple(builder, array.shape)
    _, step = cgutils.unpack_tuple(builder, array.strides)
    row, col = _indices(context, builder, signature, values)
    inside = builder.and_(
        builder.icmp_unsigned("<", row, rows), builder.icmp_unsigned("<", col, cols)
    )
    with builder.if_then(inside):
        pointer = _pointer(context, builder, signature, values)
        with builder.if_else(values[-1]) as (wide, narrow):
            with wide:
                at_once(pointer)
            with narrow:
                one(pointer, 0)
                for k in range(1, 4):
                    column = builder.add(col, INT64(k))
                    with builder.if_then(builder.icmp_unsigned("<", column, cols)):
                        one(cgutils.pointer_add(builder, pointer, builder.mul(step, INT64(k))), k)


@intrinsic
def load4(typing, array, row, col):
    """Return the four elements of a row from `col` on; 16 bytes in one instruction."""

    def generate(context, builder, signature, values):
        parts = _load4(builder, _pointer(context, builder, signature, values))
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(types.float32, 4)(array, row, col), generate


@intrinsic
def store4(typing, array, row, col, a, b, c, d):
    """Store four elements of a row from `col` on; 16 bytes in one instruction."""

    def generate(context, builder, signature, values):
        _store4(builder, _pointer(context, builder, signature, values), values[3:])
        return context.get_dummy_value()

    return types.void(array, row, col, *(types.float32,) * 4), generate


@intrinsic
def load4_guarded(typing, array, row, col, wide):
    """Return four elements of a row, zeros beyond the edges; one by one unless `wide`."""

    def generate(context, builder, signature, values):
        parts = [cgutils.alloca_once(builder, FLOAT) for _ in range(4)]

        def at_once(pointer):
            for part, value in zip(parts, _load4(builder, pointer), strict=True):
                builder.store(value, part)

        def one(pointer, k):
            builder.store(builder.load(pointer), parts[k])

        for part in parts:
            builder.store(FLOAT(0), part)
        _guarded(context, builder, signature, values, at_once, one)
        return context.make_tuple(builder, signature.return_type, map(builder.load, parts))

    return types.UniTuple(types.float32, 4)(array, row, col, wide), generate


@intrinsic
def store4_guarded(typing, array, row, col, a, b, c, d, wide):
    """Store four elements of a row, none beyond the edges; one by one unless `wide`."""

    def generate(context, builder, signature, values):
        parts = values[3:7]

        def at_once(pointer):
            _store4(builder, pointer, parts)

        def one(pointer, k):
            builder.store(parts[k], pointer)

        _guarded(context, builder, signature, values, at_once, one)
        return context.get_dummy_value()

    return types.void(array, row, col, *(types.float32,) * 4, wide), generate


@intrinsic
def aligned16(typing, array):
    """Whether each row begins at a multiple of 16 bytes, is one long, and has no gaps."""

    def generate(context, builder, signature, values):
        (array_type,) = signature.args
        array = context.make_array(array_type)(context, builder, values[0])
        row_bytes, col_bytes = cgutils.unpack_tuple(builder, array.strides)
        _, cols = cgutils.unpack_tuple(builder, array.shape)
        start = builder.ptrtoint(array.data, INT64)
        # A view may end in the middle of four elements, though rows lie 16 bytes apart.
        multiples = builder.or_(row_bytes, builder.mul(cols, INT64(4)))
        odd = builder.and_(builder.or_(start, multiples), INT64(15))
        return builder.and_(
            builder.icmp_unsigned("==", odd, INT64(0)),
            builder.icmp_unsigned("==", col_bytes, INT64(4)),
        )

    return types.boolean(array), generate


@intrinsic
def unrolled(typing):
    """Ask the compiler to write out the loop that ends just above this call."""

    def generate(context, builder, signature, values):
        follows = {block: _next_blocks(block) for block in builder.function.blocks}
        # Whoever leads here and can be led back to is in the loop. Loops around it have no branch
        # back yet: they end further down.
        ends = [block for block, after in follows.items() if builder.basic_block in after]
        inside = [b for b in follows if any(_leads(follows, e, b, e) for e in ends)]
        starts = {to for b, after in follows.items() if b not in inside for to in after}
        for block in inside:
            if isinstance(block.terminator, Branch) and follows[block][0] in starts:
                full = builder.module.add_metadata(["llvm.loop.unroll.full"])
                loop = builder.module.add_metadata([full, f"loop {len(follows)}"])
                loop.operands = (loop, full)  # a loop is told from others by naming itself
                block.terminator.set_metadata("llvm.loop", loop)
        return context.get_dummy_value()

    return types.void(), generate


def _next_blocks(block) -> list:
    """Return the blocks that one of LLVM's may go on with."""
    after = getattr(block.terminator, "operands", ())
    return [to for to in after if isinstance(to, ir.Block)]


def _leads(follows: dict, *stops) -> bool:
    """Whether a way leads from each of some blocks to the next."""
    for start, end in zip(stops, stops[1:], strict=False):
        seen, coming = set(), list(follows[start])
        while coming and end not in seen:
            block = coming.pop()
            if block not in seen:
                seen.add(block)
                coming += follows[block]
        if end not in seen:
            return False
    return True
