"""The wrong kernels go through the tools, with a tool that only starts what it is given."""

import shutil

import pytest

from tests.microscope.fuzz import sanitize

TOOL = """#!/bin/sh
while [ "$1" != "--run" ] && [ "${1#-}" != "$1" ]; do
    [ "$1" = "--help" ] && exit
    shift 2
done
exec "$@"
"""


@pytest.mark.skipif(shutil.which("sh") is None, reason="the pretended tool is a shell script")
def test_every_kernel_gets_a_row(monkeypatch, tmp_path):
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(sanitize, "TOOLS", ("memcheck",))
    first, second = sanitize.rows(2, processes=1)
    assert (first["number"], second["number"]) == (0, 1)
    assert "race: read after write" in first["microscope"]
    for row in (first, second):
        assert row["tools"]["memcheck"]["end"].split()[0] in ("right", "error")
        assert row["tools"]["memcheck"]["findings"] == {}
