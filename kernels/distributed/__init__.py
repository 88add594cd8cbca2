"""Products on several GPUs: who holds which tile, what moves, and how long it takes.

From the ground up: `grid` and `schedule` are plain data; `algorithms` make schedules; `cost` adds
one up in bytes and seconds. An executor carries it out: `simulation` with NumPy, anywhere;
`copies` from one process that drives all GPUs; `worker` in one process for each GPU, over NCCL,
which `processes` starts and ends. `collectives` runs programs of several ranks rather than
schedules, in NumPy or, by `nccl_ranks`, over NCCL; `layers` are such programs. `machine` says what
is here, `choose` which algorithm fits it.
"""
