"""The code keeps its style."""

import sys


def test_ruff_finds_nothing(run):
    done = run(sys.executable, "-m", "ruff", "check", "--quiet", "--no-cache", ".")
    assert done.returncode == 0, done.stdout
