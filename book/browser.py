"""The browser that tests and pictures draw with: this machine's, or else Playwright's own.

`make browser` fetches the Chromium that the locked Playwright is made for, where the machine has
neither Chromium nor Chrome. The set-up of the tests does so by itself, once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from playwright.sync_api import Error, sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

INSTALLED = (
    "chromium",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
).split()
FETCH = ("-m", "playwright", "install", "--only-shell", "--no-progress", "chromium")


class NoBrowser(RuntimeError):
    """No browser is here, or the one that is here does not start."""


def installed() -> str | None:
    """The machine's own Chromium or Chrome, if it has one."""
    return next(filter(None, map(shutil.which, INSTALLED)), None)


def launch(playwright: Playwright) -> Browser:
    """Start the machine's own browser, or else the one that Playwright fetched.

    Raises
    ------
    NoBrowser
        When there is none, or it does not start: in one line, with what to do.
    """
    path = installed()
    try:
        return playwright.chromium.launch(executable_path=path, args=FLAGS)
    except Error as error:
        if "Executable doesn't exist" in error.message:
            raise NoBrowser("no Chromium or Chrome is on this machine: `make browser`") from None
        said = next(filter(None, (line.strip("║ ═╔╗") for line in error.message.splitlines())))
        raise NoBrowser(f"{path or 'the fetched Chromium'} does not start: {said}") from None


def fetch() -> None:
    """Fetch the Chromium of the locked Playwright."""
    print("Fetching a Chromium for the tests (about 100 MB, once) …", flush=True)
    fetched = subprocess.run([sys.executable, *FETCH], capture_output=True, text=True)
    if fetched.returncode:
        said = [line for line in fetched.stderr.splitlines() if line.startswith("Error:")]
        sys.exit(
            "No Chromium could be fetched: is the network reachable? Another way is a Chromium "
            f"or Chrome of this system's own. Playwright said: {(said or ['?'])[-1]}"
        )


def main() -> None:
    """See a browser start; fetch one if there is none."""
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except NoBrowser as error:
            if installed():
                sys.exit(str(error))
            fetch()
            browser = launch(playwright)
        print(f"The browser tests run in Chromium {browser.version}.")
        browser.close()


if __name__ == "__main__":
    try:
        main()
    except NoBrowser as error:
        sys.exit(str(error))
