"""What the host does: copies to and from the device, and the same work on its processor."""

from __future__ import annotations

from kernels.measure import probes
from kernels.measure.bench import vectors
from kernels.measure.bench.step import Step


def steps() -> list[Step]:
    """Transfers of both kinds, and vector add and the products on the CPU."""
    lengths = vectors.lengths()
    return [
        *(
            Step(f"transfers, {kind}", lambda kind=kind: {
                "transfers": probes.transfers(kind, lengths)
            })
            for kind in ("pinned", "pageable")
        ),
        Step("vector add on the CPU", lambda: {"cpu": probes.cpu_vector_add(lengths)}),
        *(
            Step(f"{what} on the CPU", lambda what=what: {"cpu": [probes.cpu_product(what)]})
            for what in probes.CPU_PRODUCTS
        ),
    ]  # fmt: skip
