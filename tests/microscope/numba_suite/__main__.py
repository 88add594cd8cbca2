"""``python -m tests.microscope.numba_suite``: judge the microscope by numba-cuda's own tests."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tests.microscope.numba_suite import run, selection


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="REGEX", help="only tests of such a name")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth test")
    parser.add_argument("--out", type=Path, help="write the verdicts here, as JSON")
    given = parser.parse_args()
    began = time.monotonic()
    found = run.summary(run.run(selection.modules(), given.only, given.every))
    found["seconds"] = round(time.monotonic() - began)
    for row in found["rows"]:
        print(f"{row['verdict']:8} {row['test']}: {row['why']}")
    print(f"differ without a reason: {', '.join(found['unexplained']) or 'none'}")
    print(json.dumps(found["counts"]), f"of {found['judged']} tests in {found['seconds']} s")
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
