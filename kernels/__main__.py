"""``python -m kernels``: the command line of the course, in `kernels.cli`."""

import sys

from kernels.basics.errors import foreseen, one_line

if __name__ == "__main__":
    try:
        from kernels.cli import main
    except Exception as error:
        # The backend is chosen on import, and KERNELS_BACKEND may ask for one that isn't there.
        if not foreseen(error):
            raise
        print(f"error: {one_line(error)}", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
