"""``python -m tests.microscope.constructs``: write ``chapters/interpreter.md``."""

from tests.microscope.constructs import page

if __name__ == "__main__":
    page.PAGE.write_text(page.text(), encoding="utf-8")
    print(f"wrote {page.PAGE.name}: {page.summary()}")
