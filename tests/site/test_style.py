"""The code keeps its style."""

import sys

import pytest


@pytest.mark.parametrize("check", ["check", "format --check"])
def test_ruff_finds_nothing(run, check):
    done = run(sys.executable, "-m", "ruff", *check.split(), "--no-cache", ".")
    assert done.returncode == 0, done.stdout
