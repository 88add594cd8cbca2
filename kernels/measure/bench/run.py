"""One run of the benchmark: do its steps, resume an interrupted one, and write the record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernels import records
from kernels.basics.files import ROOT, replace_text, slug
from kernels.measure.bench import sources
from kernels.measure.bench.step import Step

#: Where finished steps are kept, until what was made of them is in place.
KEPT = ROOT / "_build" / "bench.json"


def named(every: list[Step], only: str) -> list[Step]:
    """The steps with `only` in their names.

    Raises
    ------
    ValueError
        Where no step has.
    """
    todo = [step for step in every if only in step.name]
    if not todo:
        some = ", ".join(step.name for step in every[:3])
        raise ValueError(f"no step of the benchmark has {only!r} in its name: there are {some}, …")
    return todo


def run(
    todo: list[Step],
    *,
    about: dict[str, Any],
    facts: dict[str, Any],
    kept: Path | None = None,
    folder: Path | None = None,
    name: str = "",
    report: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Path:
    """Do all steps, resume where an interrupted run stopped, and write the record.

    Parameters
    ----------
    todo : list of Step
    about, facts : dict
        Provenance and device of the record.
    kept : Path, optional
        Where finished steps are kept, `KEPT` by default. The file stays, so that nothing is lost if
        what the record is for fails: whoever has put it in place deletes it.
    folder : Path, optional
        Where the record goes; `records.folder` by default.
    name : str
        The record's, if not that of the GPU.
    report : callable
        Called with the name of a step, how many are done, and how many there are.

    Returns
    -------
    Path
        The record's file; what other runs had measured is kept in it.
    """
    kept = kept or KEPT
    same = {name: value for name, value in about.items() if name != "date"}
    done: dict[str, dict[str, Any]] = {}
    try:
        earlier = json.loads(kept.read_text(encoding="utf-8"))
        # Figures of another GPU, driver or version are no part of this run.
        if earlier["same"] == same:
            done, about = earlier["done"], {**about, "date": earlier["date"]}
    except (OSError, ValueError, KeyError):
        pass
    for number, step in enumerate(todo):
        report(step.name, number, len(todo))
        key = sources.key(step.measure.__module__)
        if done.get(step.name, {}).get("key") != key:
            done[step.name] = {"key": key, "tables": step.measure()}
            text = json.dumps({"same": same, "date": about["date"], "done": done})
            replace_text(kept, text)
    report("done", len(todo), len(todo))
    tables: dict[str, list[records.Row]] = {}
    for step in todo:
        for table, rows in done[step.name]["tables"].items():
            dated = [records.Row({**row, "date": about["date"]}) for row in rows]
            tables.setdefault(table, []).extend(dated)
    new = records.Record(name or slug(about["gpu"]), about, facts, tables)
    path = (folder or records.folder()) / f"{new.name}.json"
    if path.exists():
        new = records.merge(records.read(path), new)
    records.write(new, path)
    return path
