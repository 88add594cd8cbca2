"""Proof that the microscope is right: brute force, a second engine, and hardware counters."""
