"""The table at the end of a run: what was compared in each chapter, and what was not."""

HEADINGS = ("compared", "silent", "ignored", "skipped", "failed")


def pytest_terminal_summary(terminalreporter):
    counted = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            found = dict(getattr(report, "user_properties", ())).get("cells")
            if found and getattr(report, "when", "") == "call":
                counted[found["chapter"], found["backend"]] = found
    if not counted:
        return
    terminalreporter.section("cells of the chapters")
    headings = "".join(f"{heading:>10}" for heading in HEADINGS)
    terminalreporter.write_line(f"{'chapter':<16}{'backend':<8}{headings}")
    for (chapter, backend), found in sorted(counted.items()):
        numbers = "".join(f"{found.get(heading, 0):>10}" for heading in HEADINGS)
        terminalreporter.write_line(f"{chapter:<16}{backend:<8}{numbers}")
    terminalreporter.write_line(
        "silent: printed nothing, as stored; ignored: ran, its output shows a device or a time"
    )
