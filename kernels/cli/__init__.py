"""The command line, ``python -m kernels``: a file for each command. They parse and print."""

from kernels.cli.app import main

__all__ = ["main"]
