"""Which files a figure depends on."""

import pytest

from kernels.basics.files import ROOT
from kernels.measure.bench import plan, sources


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of four modules: `probe` measures `clock`, by way of a function; `report` shows."""
    texts = {
        "__init__.py": "",
        "probe.py": "def measure():\n    from kernels.tools import clock\n",
        "report.py": "from kernels import probe\n",
        "tools/__init__.py": "from .unused import nothing\n",
        "tools/clock.py": "from . import units\n",
        "tools/units.py": "import numpy\nfrom kernels.tools.units import missing\n",
        "tools/unused.py": "nothing = 0\n",
        "tools/clock.cu": "__global__ void clock() {}\n",
    }
    for name, text in texts.items():
        path = tmp_path / "kernels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    return tmp_path / "kernels"


def test_every_import_leads_on_and_no_other_file_counts(package):
    found = [path.relative_to(package).as_posix() for path in sources.sources("kernels.probe")]
    assert found == ["probe.py", "tools/clock.cu", "tools/clock.py", "tools/units.py"]


def test_a_package_counts_where_something_of_its_own_is_imported(package):
    (package / "probe.py").write_text("from kernels.tools import nothing\n")
    found = [path.name for path in sources.sources("kernels.probe")]
    assert found == ["probe.py", "__init__.py", "clock.cu", "unused.py"]


@pytest.mark.parametrize(
    "name, changes",
    [("probe.py", True), ("tools/clock.py", True), ("tools/clock.cu", True), ("report.py", False)],
)
def test_a_key_changes_with_the_files_that_count(package, name, changes):
    sources.key.cache_clear()
    before = sources.key("kernels.probe")
    (package / name).write_text("# changed\n")
    sources.key.cache_clear()
    assert (sources.key("kernels.probe") != before) is changes
    sources.key.cache_clear()


def needed(module):
    files = sources.sources(f"kernels.measure.bench.{module}")
    return {path.relative_to(ROOT / "kernels").as_posix() for path in files}


def test_the_ladder_depends_on_its_rungs_and_on_how_they_are_timed():
    files = needed("ladder")
    assert {"rungs/tiled.py", "rungs/tiled.cu", "rungs/order.py", "measure/timing.py"} <= files
    assert {"measure/oracle.py", "measure/bench/case.py", "host/cpp.py"} <= files


@pytest.mark.parametrize("module", [module.__name__.rpartition(".")[2] for module in plan.MODULES])
def test_no_figure_depends_on_what_shows_it(module):
    files = needed(module)
    assert f"measure/bench/{module}.py" in files
    folders = {file.partition("/")[0] for file in files}
    assert "measure/report.py" not in files and not folders & {"cli", "lab"}


def test_vectors_do_not_depend_on_the_rungs():
    assert not [file for file in needed("vectors") if file.startswith("rungs/")]
