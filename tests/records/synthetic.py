"""A made-up record: round figures of no GPU, to test what reads, merges and draws records."""

from __future__ import annotations

from kernels.records import Record, Row

DATE = "2001-02-03 04:05 UTC"
LIBRARY = {1024: 1000.0, 2048: 2000.0, 4096: 4000.0, 8192: 4100.0}
#: Share of the library that each rung is given here.
SHARES = {
    ("swapped", "numba", None): 0.01,
    ("swapped", "cpp", None): 0.01,
    ("naive", "numba", None): 0.04,
    ("naive", "cpp", None): 0.12,
    ("tiled", "numba", 8): 0.08,
    ("tiled", "numba", 16): 0.12,
    ("tiled", "numba", 32): 0.16,
    ("tiled", "cpp", 8): 0.09,
    ("tiled", "cpp", 16): 0.16,
    ("tiled", "cpp", 32): 0.18,
    ("cublas", "library", None): 1.0,
}


def spread(median: float) -> dict[str, float]:
    """Seconds as a record holds them."""
    return {"median": median, "q1": 0.99 * median, "q3": 1.02 * median, "n": 7}


def timing(
    rung: str, engine: str, tile: int | None, size: int, date: str = DATE, block: int = 32
) -> Row:
    """One timing row; sizes are square."""
    gflops = LIBRARY[size] * SHARES[rung, engine, tile]
    options = {"tile": tile} if tile else {} if rung == "cublas" else {"block": block}
    return Row(
        rung=rung, engine=engine, options=options, dtype="float32",
        M=size, N=size, K=size, seconds=spread(2 * size**3 / gflops / 1e9), gflops=gflops,
        cublas_gflops=LIBRARY[size], correct=True, date=date,
    )  # fmt: skip


def record(name: str = "synthetic", date: str = DATE) -> Record:
    """A whole record, every table filled."""

    def row(**fields) -> Row:
        return Row(**fields, date=date)

    def transfer(direction: str, memory: str, n: int, speed: float) -> Row:
        seconds = 8e-6 + 4 * n / speed
        return row(direction=direction, memory=memory, bytes=4 * n, seconds=spread(seconds),
                   bytes_per_second=4 * n / seconds)  # fmt: skip

    copy = 2e12
    lengths = [2**p for p in range(10, 29, 2)]
    add = [
        (engine, n, launch + 12 * n / (share * copy))
        for engine, launch, share in (("numba", 30e-6, 0.8), ("cpp", 4e-6, 0.85))
        for n in lengths
    ]
    walked = [2**p for p in range(12, 31)]

    def chase(count: int) -> float:
        return 20.0 if count <= 2**17 else 150.0 if count <= 2**24 else 400.0

    tables = {
        "timings": [
            timing(*key, size, date, block)
            for size in LIBRARY
            for key in SHARES
            for block in ((8, 16, 32) if key[0] in ("swapped", "naive") else (32,))
        ],
        "resources": [
            row(rung=rung, engine=engine, options={"tile": side} if tiled else {"block": side},
                threads_per_block=side**2, shared_bytes=8 * side**2 if tiled else 0, registers=40,
                local_bytes=0, blocks_per_sm=1536 // side**2,
                occupancy=1536 // side**2 * side**2 / 2048)
            for rung in ("swapped", "naive", "tiled")
            for tiled in [rung == "tiled"]
            for engine in ("numba", "cpp")
            for side in (8, 16, 32)
        ],
        "bandwidth": [
            row(what="copy", engine="library", n=2**28, bytes=2**31, seconds=spread(2**31 / copy),
                bytes_per_second=copy, share_of_copy=1.0),
            *(row(what="vector_add", engine=engine, n=2**28, bytes=12 * 2**28, block=256,
                  seconds=spread(1e-3), bytes_per_second=0.8 * copy, share_of_copy=0.8)
              for engine in ("numba", "cpp")),
        ],
        "vector_add": [
            row(engine=engine, n=n, block=256, cache=cache, bytes=12 * n, seconds=spread(seconds),
                bytes_per_second=12 * n / seconds)
            for engine, n, seconds in add
            for cache in ("cold", "warm")
        ] + [
            row(engine=engine, n=2**26, block=block, cache="cold", bytes=12 * 2**26,
                seconds=spread(1e-3), bytes_per_second=0.7 * copy)
            for engine in ("numba", "cpp")
            for block in (32, 33, 48, 64, 128, 512, 1000, 1024)
        ],
        "launch": [
            row(engine=engine, arguments=count, seconds=spread(base + 5e-6 * count))
            for engine, base in (("numba", 20e-6), ("cpp", 4e-6))
            for count in (0, 1, 3)
        ],
        "latency": [
            *(row(space="global", bytes=count, ns=chase(count), cycles=2 * chase(count))
              for count in walked),
            row(space="shared", bytes=16384, ns=15.0, cycles=30.0),
            row(space="registers", bytes=4, ns=2.0, cycles=4.0),
        ],
        "transfers": [
            transfer(direction, memory, n, speed)
            for direction in ("host to device", "device to host")
            for memory, speed in (("pinned", 50e9), ("pageable", 12e9))
            for n in lengths
        ],
        "cpu": [
            *(row(what="numpy vector add", n=n, seconds=spread(1e-6 + 12 * n / 2e10),
                  bytes_per_second=12 * n / (1e-6 + 12 * n / 2e10), cores=4) for n in lengths),
            *(row(what=what, M=size, N=size, K=size, dtype="float32", cores=cores,
                  seconds=spread(2 * size**3 / gflops / 1e9), gflops=gflops)
              for what, size, cores, gflops in (
                  ("python loops", 128, 1, 0.01), ("numba", 512, 1, 1.0),
                  ("numba parallel", 1024, 4, 3.0), ("numpy matmul", 4096, 4, 170.0))),
        ],
    }  # fmt: skip
    provenance = {
        "gpu": "H200, synthetic: no measurement",
        "driver": "0.0",
        "cuda": "0.0",
        "versions": {"python": "3.11", "numba-cuda": "0.0", "cupy": "0.0"},
        "date": date,
        "clocks": {"sm_mhz": 1000, "memory_mhz": 1000},
    }
    device = {
        "name": "Synthetic GPU", "compute_capability": [9, 0], "sms": 10, "warp_size": 32,
        "max_threads_per_block": 1024, "max_threads_per_sm": 2048, "max_blocks_per_sm": 32,
        "shared_per_block": 49152, "shared_per_block_optin": 65536, "shared_per_sm": 131072,
        "registers_per_block": 65536, "registers_per_sm": 65536, "l2_bytes": 2**24,
        "memory_bytes": 2**34, "clock": 1e9, "memory_clock": 1e9, "memory_bus_bits": 1024,
        "fp32_peak": 5e12, "bandwidth_peak": 2.4e12, "cpu_cores": 4,
    }  # fmt: skip
    return Record(name, provenance, device, tables)
