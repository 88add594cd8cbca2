"""The innermost loop of each rung in its machine code."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

from kernels.measure import sass
from kernels.measure.bench.case import Case
from kernels.measure.bench.step import Step, Tables, one_line
from kernels.rungs.order import LADDER, Rung


def steps() -> list[Step]:
    """One step: the instructions of every rung's innermost loop."""
    return [Step("machine code", machine_code)]


def machine_code() -> Tables:
    """The innermost loop of each rung, counted; no rows, and a word why, without the tools."""
    if sass.missing():
        warnings.warn(f"no machine code: {sass.missing()}", stacklevel=2)
        return {}
    asked, rows, failed = [], [], {}
    with ThreadPoolExecutor() as pool:  # one reads while the next is compiled
        for rung in LADDER.values():
            if rung.missing():
                continue
            for engine in rung.engines:
                # `rung.kernel` and `rung.cpp_kernel` return the kernel of their usual format.
                usual = rung.formats().get("dtype") if engine == "numba" else None
                case = Case(64, 64, 64, usual or rung.dtypes[0], rung.out_dtype)
                options = rung.default(engine)
                what = {"rung": rung.name, "engine": engine, "options": options}
                try:
                    case.launch(rung, engine, options)()  # Numba compiles when it is launched
                    asked.append((what, pool.submit(loop_of, *code_of(rung, engine, options))))
                except Exception as error:  # the others are listed all the same
                    failed[f"{rung.name} ({engine})"] = one_line(error)
        for what, answer in asked:
            try:
                loop = answer.result()
                rows.append({**what, "loop": loop.counts(), "lines": loop.excerpt()})
            except sass.SassError as error:
                failed["{rung} ({engine})".format(**what)] = one_line(error)
    if failed:
        reason = next(iter(failed.values()))
        warnings.warn(f"no machine code of {', '.join(failed)}: {reason}", stacklevel=2)
    return {"sass": rows} if rows else {}


def code_of(rung: Rung, engine: str, options: dict[str, int]) -> tuple[bytes, str]:
    """The machine code of a version of a rung that was launched before, and its kernel's name."""
    if engine == "numba":
        return sass.code_of(rung.kernel(**options)), ""
    compiled = rung.cpp_kernel(**options)
    return sass.code_of(compiled), compiled.name


def loop_of(code: bytes, function: str) -> sass.Loop:
    """The innermost loop of a kernel in its machine code."""
    return sass.inner_loop(sass.disassemble(code), function)
