"""``python -m authoring``: record, readme and pages, which ``python -m kernels`` offers as well."""

import sys

from authoring.commands import main

if __name__ == "__main__":
    sys.exit(main())
