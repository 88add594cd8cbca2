"""``python -m kernels``: the command line of the course, in `kernels.cli`."""

import sys

from kernels.cli import main

if __name__ == "__main__":
    sys.exit(main())
