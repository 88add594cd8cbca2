"""A foreseen error was raised for the reader; any other is a defect."""

import pytest

from kernels.basics.errors import foreseen, one_line


def raised_in(module: str, statement: str) -> Exception:
    """What a statement of a module raises."""
    with pytest.raises(Exception) as caught:
        exec(statement, {"__name__": module})
    return caught.value


@pytest.mark.parametrize(
    "module, statement, expected",
    [
        ("kernels.host.checks", "raise ValueError('size is 0:\\nuse 1')", True),
        ("kernels.host.checks", "with open(__import__('os').devnull): raise LookupError", True),
        ("microscope.races", "assert False, 'a race'", True),
        ("numpy", "open('/no/such/file')", True),
        ("kernels.host.checks", "{}['size']", False),
        ("kernels.host.checks", "int('x')", False),
        ("kernels.host.checks", "raise AttributeError('size')", False),
        ("numpy", "raise ValueError('size')", False),
    ],
)
def test_a_raise_of_the_course_is_foreseen(module, statement, expected):
    error = raised_in(module, statement)
    assert foreseen(error) is expected
    told = one_line(error)
    assert "\n" not in told and told.endswith("--debug ...` shows where)") is not expected
