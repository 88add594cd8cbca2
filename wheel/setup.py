"""Pack `kernels` and `microscope` as one package, `tile_by_tile`, with the measured records.

Every module says ``from kernels.… import``. In the wheel that is ``from tile_by_tile.… import``:
the names are written anew while the files are copied.
"""

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

NAME, ROOT = "tile_by_tile", Path("..")
#: Folders of `kernels` that a product needs; the others are the course's.
FOLDERS = ("basics", "backend", "ptx", "host", "rungs", "primitives", "patterns", "records",
           "measure", "budget", "tuning", "frameworks")  # fmt: skip
#: What is written anew: imports, names in strings, and where the records are.
NAMES = (
    (r"^(\s*)import microscope$", rf"\1from {NAME} import microscope"),
    (r"^(\s*(?:from|import) )microscope\b", rf"\1{NAME}.microscope"),
    (r"^(\s*(?:from|import) )kernels\b", rf"\1{NAME}"),
    (r"([\"'])kernels(?=[.\"'])", rf"\1{NAME}"),
    (r'ROOT / "chapters" / "records"', f'ROOT / "{NAME}" / "measured"'),
)


def renamed(text: str) -> str:
    """The text of a module with the names that it has in the wheel."""
    for old, new in NAMES:
        text = re.sub(old, new, text, flags=re.M)
    return text


class Build(build_py):
    """Copies the packages, and then writes the names anew."""

    def find_package_modules(self, package, package_dir):
        """All modules but the course's command line, and what reads records of several GPUs."""
        left_out = (NAME, "__main__"), (f"{NAME}.records", "distributed")
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if each[:2] not in left_out]

    def run(self):
        """Copy everything, from scratch where an older build is there."""
        self.force = True
        super().run()
        package = Path(self.build_lib, NAME)
        for path in package.rglob("*.py"):
            path.write_text(renamed(path.read_text("utf-8")), "utf-8")
        (package / "measured").mkdir(exist_ok=True)
        for record in sorted((ROOT / "chapters" / "records").glob("*.json")):
            (package / "measured" / record.name).write_bytes(record.read_bytes())


places = {NAME: ROOT / "kernels", f"{NAME}.microscope": ROOT / "microscope",
          f"{NAME}.microscope.ptx": ROOT / "microscope" / "ptx"}  # fmt: skip
places |= {f"{NAME}.{folder}": ROOT / "kernels" / folder for folder in FOLDERS}
setup(
    packages=list(places),
    package_dir={package: path.as_posix() for package, path in places.items()},
    package_data={"": ["*.cu", "*.cuh", "*.json"]},
    cmdclass={"build_py": Build},
)
