"""PTX instructions as Numba intrinsics: LLVM's inline assembly, written by hand."""

import inspect
import re

from llvmlite import ir
from numba.core import cgutils
from numba.core.targetconfig import ConfigStack
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

from kernels.ptx.operands import Literal, RegisterList, Scalar, SharedArray, TensorMap

__all__ = ["cluster_dims", "intrinsic_of", "store_pair"]

INT32, INT64 = ir.IntType(32), ir.IntType(64)
LLVM = {
    "uint16": ir.IntType(16), "uint32": INT32, "int32": INT32, "uint64": INT64,
    "float32": ir.FloatType(),
}  # fmt: skip


def intrinsic_of(instruction):
    """Return the Numba intrinsic of an instruction."""
    literals = [name for name, kind in instruction.takes.items() if kind is Literal]

    def typing(context, *arguments):
        given = dict(zip(instruction.takes, arguments, strict=True))
        values = {name: literal(instruction, name, given[name]) for name in literals}
        wants = [
            getattr(types, kind.name) if isinstance(kind, Scalar) else given[name]
            for name, kind in instruction.takes.items()
        ]
        results = [getattr(types, kind.name) for kind in instruction.gives]
        result = types.Tuple(results) if len(results) > 1 else [*results, types.void][0]

        def generate(context, builder, signature, arguments):
            refuse(instruction, values)  # not before: how a call is typed is kept for all GPUs
            return write(instruction, values, context, builder, signature, arguments)

        return result(*wants), generate

    return as_intrinsic(typing, instruction.name, instruction.takes)


def as_intrinsic(typing, name: str, parameters):
    """Make an intrinsic of a typing function of any number of arguments."""

    def of_some(context, *arguments):
        return typing(context, *arguments)

    # Numba asks for the parameters by name.
    one = inspect.Parameter
    listed = [one(each, one.POSITIONAL_OR_KEYWORD) for each in ("context", *parameters)]
    of_some.__signature__ = inspect.Signature(listed)
    of_some.__name__ = name.rpartition(".")[2]
    return intrinsic(of_some)


def literal(instruction, name: str, given) -> int:
    """Return the number of a literal argument; TypingError where it is only known to the GPU."""
    if not isinstance(given, types.IntegerLiteral):
        # Numba asks with plain types first, and after such an error with literal ones.
        raise TypingError(
            f"{instruction.name} needs {name} as a number in the text of the kernel, or as a"
            f" constant of the function around it; got {given}"
        )
    return given.literal_value


def refuse(instruction, values: dict) -> None:
    """Raise ValueError for what the GPU compiled for lacks, or for literals out of range."""
    flags = ConfigStack.top_or_none()
    capability = getattr(flags, "compute_capability", None)
    if capability and (why := instruction.missing(tuple(capability)[:2])):
        raise ValueError(f"{why}: use a rung written for this GPU")
    if instruction.check:
        instruction.check(**values)


def write(instruction, literals: dict, context, builder, signature, arguments):
    """Write the call of the inline assembly, with all registers of its operands."""
    outs: list[tuple] = []  # (LLVM type, letter, address to store to or None)
    ins: list[tuple] = []  # (value, constraint)
    spelled = {}  # operand name: function of the number of outputs
    outs += [(LLVM[kind.name], kind.letter, None) for kind in instruction.gives]
    for (name, kind), value, type_ in zip(
        instruction.takes.items(), arguments, signature.args, strict=True
    ):
        if kind is Literal:
            spelled[name] = str(literals[name])
        elif isinstance(kind, RegisterList):
            places = elements(context, builder, type_, value, literals.get(kind.count, kind.count))
            if kind.written:
                start = len(outs)
                for number, place in enumerate(places, start):
                    outs.append((LLVM[kind.element.name], kind.element.letter, place))
                    ins.append((builder.load(place), str(number)))
                spelled[name] = [f"${number}" for number in range(start, len(outs))]
            else:
                spelled[name] = [("in", len(ins) + i) for i in range(len(places))]
                ins += [(builder.load(place), kind.element.letter) for place in places]
        else:
            spelled[name] = ("in", len(ins))
            ins.append(operand(context, builder, kind, type_, value))
    text = spell(instruction.text, spelled, len(outs))
    constraints = [f"={letter}" for _, letter, _ in outs] + [letter for _, letter in ins]
    constraints += ["~{memory}"] * instruction.memory
    kinds = [kind for kind, _, _ in outs]
    result = (
        ir.VoidType() if not kinds else kinds[0] if len(kinds) == 1 else ir.LiteralStructType(kinds)
    )
    function = ir.FunctionType(result, [value.type for value, _ in ins])
    code = ir.InlineAsm(function, text, ",".join(constraints), side_effect=True)
    made = builder.call(code, [value for value, _ in ins])
    parts = (
        [made] if len(kinds) == 1 else [builder.extract_value(made, i) for i in range(len(kinds))]
    )
    for part, (_, _, place) in zip(parts, outs, strict=True):
        if place is not None:
            builder.store(part, place)
    given = parts[: len(instruction.gives)]
    if len(given) > 1:
        return context.make_tuple(builder, signature.return_type, given)
    return given[0] if given else context.get_dummy_value()


def spell(text: str, operands: dict, outputs: int) -> str:
    """Return the assembly with LLVM's numbers of the operands, outputs before inputs."""

    def one(operand) -> str:
        if isinstance(operand, list):
            return "{" + ", ".join(map(one, operand)) + "}"
        return f"${outputs + operand[1]}" if isinstance(operand, tuple) else operand

    def name(found):
        return f"${found[1]}" if found[1].isdigit() else one(operands[found[1]])

    return re.sub(r"<(\w+)>", name, text)


def operand(context, builder, kind, type_, value) -> tuple:
    """Return the value of an operand in one register, and its constraint."""
    if isinstance(kind, Scalar):
        return value, kind.letter
    data = context.make_array(type_)(context, builder, value).data
    if kind is TensorMap:
        return builder.ptrtoint(data, INT64), "l"
    assert kind is SharedArray
    there = ir.PointerType(data.type.pointee, 3)
    data = data if data.type.addrspace == 3 else builder.addrspacecast(data, there)
    return builder.ptrtoint(data, INT32), "r"


def elements(context, builder, type_, value, count: int) -> list:
    """Return the addresses of the first elements of a local array."""
    data = context.make_array(type_)(context, builder, value).data
    return [builder.gep(data, [INT32(i)]) for i in range(count)]


def cluster_dims(instruction):
    """Return an intrinsic that makes clusters of the blocks of the kernel that calls it."""
    blocks = instruction.choices["blocks"]

    def typing(context):
        def generate(context, builder, signature, arguments):
            refuse(instruction, {})
            module = builder.module
            notes = cgutils.get_or_insert_named_metadata(module, "nvvm.annotations")
            for axis, count in zip("xyz", (blocks, 1, 1), strict=True):
                key = ir.MetaDataString(module, f"cluster_dim_{axis}")
                note = (builder.function, key, ir.Constant(INT32, count))
                notes.add(module.add_metadata(note))
            return context.get_dummy_value()

        return types.void(), generate

    return as_intrinsic(typing, "cluster_dims", ())


#: How two floats become one word of two 16-bit numbers, by the array's element type.
PACKED = {
    types.float16: "{ .reg .f16 x, y;\n  cvt.rn.f16.f32 x, $1;\n  cvt.rn.f16.f32 y, $2;\n"
    "  .reg .b32 word;\n  mov.b32 word, {x, y};\n  st.global.u32 [$0], word; }",
    types.uint16: "{ .reg .b32 word;\n  cvt.rn.bf16x2.f32 word, $2, $1;\n"
    "  st.global.u32 [$0], word; }",
    types.float32: "st.global.v2.f32 [$0], {$1, $2};",
}


def store_pair(instruction):
    """Return the intrinsic that stores two neighbours in a row of an array."""

    def typing(context, C, row, col, first, second):
        if not isinstance(C, types.Array) or C.dtype not in PACKED or C.layout != "C":
            raise TypingError(f"store_pair takes a matrix of float32 or 16 bits, got {C}")

        def generate(context, builder, signature, arguments):
            array = context.make_array(C)(context, builder, arguments[0])
            width = cgutils.unpack_tuple(builder, array.shape)[1]
            element = builder.add(builder.mul(arguments[1], width), arguments[2])
            place = builder.ptrtoint(builder.gep(array.data, [element]), INT64)
            values = [place, *arguments[3:]]
            function = ir.FunctionType(ir.VoidType(), [value.type for value in values])
            code = ir.InlineAsm(function, PACKED[C.dtype], "l,f,f,~{memory}", side_effect=True)
            builder.call(code, values)
            return context.get_dummy_value()

        return types.void(C, types.int64, types.int64, types.float32, types.float32), generate

    return as_intrinsic(typing, "store_pair", ("C", "row", "col", "first", "second"))
