"""Time, correctness, hardware counters, machine code, and the benchmark of the course."""
