"""The GitHub workflows: what they use, and what they are allowed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from book.live import fetch

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_permissions_are_least(workflow):
    text = workflow.read_text()
    actions = re.findall(r"uses: (.*)", text)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
    settings = yaml.safe_load(text)
    assert settings["permissions"] == {"contents": "read"}
    written = {
        name: job["permissions"] for name, job in settings["jobs"].items() if "permissions" in job
    }
    allowed = {"publish.yml": {"deploy": {"pages": "write", "id-token": "write"}}}
    assert written == allowed.get(workflow.name, {})


def test_publishing_fetches_the_pages_python_or_fails_and_keeps_it_for_the_next_time():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text())
    steps = workflow["jobs"]["build"]["steps"]
    runs = [step.get("run") for step in steps]
    book = runs.index("make book")
    assert steps[book]["env"] == {"PAGE_PYTHON": "required"}
    (cache,) = [step for step in steps if step.get("uses", "").startswith("actions/cache@")]
    assert steps.index(cache) < book < runs.index("make offline")
    assert ROOT / cache["with"]["path"] == fetch.KEPT
    pinned = Path(fetch.__file__).relative_to(ROOT).as_posix()
    assert f"hashFiles('{pinned}')" in cache["with"]["key"], "another version is fetched anew"
