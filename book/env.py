"""Make the course's Python environment once, then run a command in it.

    python3 book/env.py -m kernels info       runs `python -m kernels info` in .venv
    python3 book/env.py --test -m pytest      the same, with what the tests need

The environment holds exactly what a hashed lock names; the NVIDIA driver, if there is one,
decides between the locks. A stamp in the environment remembers which lock it holds, so that
only the first call, or one after a change of the lock, installs anything. This file needs the
standard library alone and must parse on any Python 3, since it is what tells the reader that
hers is too old.
"""

import ctypes
import ctypes.util
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST, NEWEST = (3, 11), (3, 14)
STAMP = "tile-by-tile.json"
MINUTES = {"course.lock": "about a minute", "test.lock": "about two minutes"}


def fail(line):
    """End with one line on standard error."""
    sys.exit("tile-by-tile: " + line)


def version_of(python):
    """Return the (major, minor) of an interpreter, or None when it does not run."""
    try:
        code = "import sys; print(*sys.version_info[:2])"
        output = subprocess.check_output([str(python), "-c", code], stderr=subprocess.DEVNULL)
        major, minor = output.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None


def find_python(newest):
    """Return an interpreter that the locks were made for, up to `newest`: this one if it is."""
    names = [sys.executable] + [
        "python3.%d" % minor for minor in range(newest[1], OLDEST[1] - 1, -1)
    ]
    for name in names:
        path = shutil.which(name)
        if path and OLDEST <= (version_of(path) or (0, 0)) <= newest:
            return path
    return fail(
        "python3 is %d.%d; the course needs %d.%d to %d.%d: install one of them, or name it with "
        "`make PYTHON=/path/to/python%d.%d …`" % (sys.version_info[:2] + OLDEST + newest + newest)
    )


def cuda_driver():
    """Return the CUDA major version of the NVIDIA driver, or None without a GPU it can use."""
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            driver = ctypes.CDLL(name)
        except OSError:
            continue
        count, version = ctypes.c_int(), ctypes.c_int()
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
            return None
        driver.cuDriverGetVersion(ctypes.byref(version))
        return version.value // 1000
    return None


def locks(cuda, test):
    """Return the names of the locks that a machine needs.

    Parameters
    ----------
    cuda : int or None
        The CUDA major version of the driver.
    test : bool
        Whether the tests are to run.

    Returns
    -------
    list of str
        In the order in which to install them.
    """
    gpu = ["cuda%d.lock" % min(cuda, 13)] if cuda and cuda >= 12 else []
    if not test:
        return gpu or ["course.lock"]
    if gpu == ["cuda12.lock"]:
        print("The GPU tests need a driver for CUDA 13 (580 or newer): testing on the interpreter.")
        os.environ["KERNELS_BACKEND"] = "cpu"
        gpu = []
    return gpu + ["test.lock"]


def path_of(lock):
    """Return where a lock lies."""
    return ROOT / "locks" / lock


def digest(lock):
    """Return the SHA-256 of a lock."""
    return hashlib.sha256(path_of(lock).read_bytes()).hexdigest()


def create(venv, newest):
    """Make an empty virtual environment, in place of a broken one."""
    python = find_python(newest)
    made = subprocess.run(
        [python, "-m", "venv", "--clear", str(venv)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if made.returncode:
        shutil.rmtree(str(venv), ignore_errors=True)
        if b"ensurepip" in made.stdout or b"No module named venv" in made.stdout:
            fail("%s has no venv module: on Debian and Ubuntu, `apt install python3-venv`" % python)
        said = made.stdout.decode(errors="replace").strip().splitlines() or ["nothing"]
        fail("%s could not make %s; it said: %s" % (python, venv, said[-1]))


def install(python, lock):
    """Install what one lock names, each file checked against its hash."""
    print(
        "Installing what locks/%s names (%s, once) …" % (lock, MINUTES.get(lock, "a few minutes")),
        flush=True,
    )
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += [
        "--no-warn-script-location",
        "--retries",
        "2",
        "--require-hashes",
        "-r",
        str(path_of(lock)),
    ]
    pip = subprocess.run(command, stderr=subprocess.PIPE)
    if pip.returncode:
        said = [
            line for line in pip.stderr.decode(errors="replace").splitlines() if "ERROR" in line
        ]
        reason = said[-1] if said else "exit status %d" % pip.returncode
        fail(
            "pip could not install locks/%s: is the network reachable? It said: %s" % (lock, reason)
        )


def fill(venv, names, newest=NEWEST):
    """Bring an environment to what its locks say.

    Parameters
    ----------
    venv : Path
        The environment's folder, made if it is missing.
    names : list of str
        The locks, in the order in which to install them.
    newest : tuple of int
        The (major, minor) of the newest Python that these locks were made for.

    Returns
    -------
    Path
        Its interpreter.
    """
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = venv / STAMP
    held = json.loads(stamp.read_text()) if stamp.exists() else {}
    moved = held.get("venv", str(venv)) != str(venv)  # its scripts hold the place it was made in
    if moved or not OLDEST <= (version_of(python) or (0, 0)) <= newest:
        if venv.is_symlink():  # whoever made the environment behind a link may be using it
            fail(
                "%s is a link to %s, which was not made for this folder and would be emptied: "
                "delete the link, or name another place with TILE_VENV" % (venv, venv.resolve())
            )
        create(venv, newest)
        held = {}
    for lock in names:
        if held.get(lock) == digest(lock):
            continue
        if stamp.exists():
            stamp.unlink()
        install(python, lock)
        held[lock] = digest(lock)
        if lock == "test.lock":  # it holds all of the plain one, at the same versions
            held["course.lock"] = digest("course.lock")
        held["venv"] = str(venv)
        stamp.write_text(json.dumps(held, indent=1) + "\n")
    return python


def prepare(venv, test=False):
    """Bring an environment to what this machine needs, and put the course on its path.

    Parameters
    ----------
    venv : Path
        The environment's folder, made if it is missing.
    test : bool
        Whether the tests are to run in it.

    Returns
    -------
    Path
        Its interpreter.
    """
    names = locks(cuda_driver(), test)
    python = fill(venv, names)
    stamp = venv / STAMP
    held = json.loads(stamp.read_text())
    if held.get("course") != str(ROOT):
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        library = subprocess.check_output([str(python), "-c", code]).decode().strip()
        (Path(library) / "tile-by-tile.pth").write_text(str(ROOT) + "\n")
        held["course"] = str(ROOT)
        stamp.write_text(json.dumps(held, indent=1) + "\n")
    if test and held.get("browser") != held[names[-1]]:
        # Tried once for each lock: without a browser the tests end with what would fetch it.
        subprocess.call([str(python), str(ROOT / "book" / "browser.py")])
        held["browser"] = held[names[-1]]
        stamp.write_text(json.dumps(held, indent=1) + "\n")
    return python


def main(arguments):
    """Prepare the environment and become the command that was asked for."""
    test = arguments[:1] == ["--test"]
    # A link to another checkout's environment is that environment.
    venv = Path(os.environ.get("TILE_VENV", str(ROOT / ".venv"))).resolve()
    python = str(prepare(venv, test))
    command = [python] + arguments[test:]
    os.environ["VIRTUAL_ENV"] = str(venv)
    os.environ["PATH"] = os.path.dirname(python) + os.pathsep + os.environ.get("PATH", "")
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(python, command)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        fail("interrupted; the next call goes on from here")
