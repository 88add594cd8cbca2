"""Mutants and hardware counters in tables: `python -m tests.microscope.score`."""

import json
from collections import Counter
from pathlib import Path

from tests.microscope import mutants
from tests.microscope.mutants import Mutant, Verdict

FOLDER = Path(__file__).parent / "counters"
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


def sanitizer_record(path: Path) -> dict[str, dict]:
    """Recorded verdicts of compute-sanitizer, by the mutants' keys."""
    return {row["key"]: row["tools"] for row in json.loads(path.read_text())["mutants"]}


def who(verdict: Verdict) -> str:
    """Which of ours noticed a mutant."""
    return {
        (True, True): "both",
        (True, False): "microscope only",
        (False, True): "oracle only",
        (False, False): "neither",
    }[bool(verdict.problems), verdict.wrong]


def mutant_rows(judged: dict[Mutant, Verdict], record: dict[str, dict]) -> list[tuple]:
    """Rung, mutants, caught by which of ours, and how many each tool of the sanitizer reported."""
    rows = []
    for rung in mutants.FILES:
        here = {m: v for m, v in judged.items() if m.rung == rung}
        ours = Counter(map(who, here.values()))
        tools = [
            sum(bool(record.get(m.key, {}).get(tool, {}).get("findings")) for m in here)
            for tool in TOOLS
        ]
        rows.append(
            (
                rung,
                len(here),
                *(ours[k] for k in ("both", "microscope only", "oracle only", "neither")),
                *tools,
            )
        )
    return [*rows, ("all", *(sum(r[i] for r in rows) for i in range(1, len(rows[0]))))]


def counter_rows() -> list[tuple[str, int, str]]:
    """Every profiled launch: how many counters were compared, and what explains a difference."""
    from tests.microscope import test_counters as compared

    rows = []
    for record, name in compared.COMPARED:
        _, mine = compared.seen_by_the_microscope(compared.CASES[name])
        hardware = compared.counted(compared.RECORDS[record]["cases"][name])
        both = [key for key in mine if key in hardware]
        equal = sum(mine[key] == hardware[key] for key in both)
        reason = compared.EXPLAINED[name].reason if name in compared.EXPLAINED else ""
        rows.append((f"{record} {name}", f"{equal}/{len(both)}", reason))
    return rows


def main() -> None:
    """Print the tables."""
    for name, equal, reason in counter_rows():
        print(f"{name:45}{equal:>7}  {reason}")
    judged = {m: mutants.judged(m) for m in mutants.mutants()}
    paths = sorted(FOLDER.glob("sanitizer*.json"))
    record = sanitizer_record(paths[-1]) if paths else {}
    head = ("rung", "mutants", "both", "microscope", "oracle", "neither", *TOOLS)
    print("\n" + "".join(f"{h:>12}" if i else f"{h:25}" for i, h in enumerate(head)))
    for row in mutant_rows(judged, record):
        print("".join(f"{v:>12}" if i else f"{v:25}" for i, v in enumerate(row)))
    for mutant, verdict in judged.items():
        if not verdict.caught:
            print(f"neither: {mutant.label}")


if __name__ == "__main__":
    main()
