"""Run every chapter as Colab does, in both of its images: `make test-colab`.

Each image has an environment of its own, `.venv-colab` and `.venv-colab-cpu`, made from a hashed
lock with Colab's versions. Both run without a GPU, on the interpreter: the first because its
driver is hidden, the second as it does on Colab, because the GPU packages are missing. In the
first, every Numba kernel is also compiled for Colab's GPU.
"""

from __future__ import annotations

import os
import subprocess
import sys

from book import env

#: The newest Python that Colab's versions have packages for.
NEWEST = (3, 13)
IMAGES = {"gpu": "colab", "cpu": "colab-cpu"}
TESTS = {"gpu": ["tests/colab/image.py", "tests/compile"], "cpu": ["tests/colab/image.py"]}
PYTEST = ["-m", "pytest", "-q", "--disable-warnings"]


def main(arguments: list[str]) -> int:
    """Test both images and return the last failure's exit status, or 0.

    Parameters
    ----------
    arguments : list of str
        Passed on to pytest: `-k name` narrows the run.
    """
    failed = 0
    for image, name in IMAGES.items():
        python = env.fill(env.ROOT / f".venv-{name}", [f"{name}.lock"], NEWEST)
        print(f"Colab's {image.upper()} image:", flush=True)
        settings = {"COLAB_IMAGE": image, "CUDA_VISIBLE_DEVICES": "", "KERNELS_BACKEND": ""}
        command = [str(python), *PYTEST, *TESTS[image], *arguments]
        done = subprocess.run(command, cwd=env.ROOT, env={**os.environ, **settings})
        failed = done.returncode or failed
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        env.fail("interrupted; the next call goes on from here")
