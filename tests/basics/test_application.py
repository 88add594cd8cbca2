"""The folder of the course is the operating system's, and the same as in earlier versions."""

import sys

import pytest

from kernels.basics.application import application_folder


@pytest.mark.skipif(sys.platform != "linux", reason="the folder of Linux")
def test_on_linux_it_lies_with_the_data_of_applications(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert application_folder() == tmp_path / "tile-by-tile"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert application_folder() == tmp_path / ".local" / "share" / "tile-by-tile"


@pytest.mark.skipif(sys.platform != "darwin", reason="the folder of macOS")
def test_on_macos_it_lies_in_application_support(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    expected = tmp_path / "Library" / "Application Support" / "tile-by-tile"
    assert application_folder() == expected
