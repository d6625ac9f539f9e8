"""Fills the matrix: every cell under every column, as a table. tools/matrix runs it."""
import argparse
import json
import os
import sys
import time
import warnings

import cells_driven
import judge
import verdict


def fill(pattern, columns, every, report):
    """{cell: {column: (kind, text)}}; `every`: of all pairs only each n-th, so that a sample sees every row and column."""
    table, at = {}, 0
    for cell in cells_driven.all_cells():
        if pattern not in repr(cell):
            continue
        known = None
        for column in columns:
            at += 1
            if at % every:
                continue
            known = known or judge.Known(cell)
            start = time.process_time()
            kind, text, out = verdict.class_of(cell, column, known)
            table.setdefault(cell, {})[column] = (kind, text)
            report(cell, column, kind, text, out, time.process_time() - start)
    return table


def page(table, columns, text):
    """docs/matrix.md: what stands before the marker, then the table."""
    marker = "<!-- made by tools/matrix: do not edit below -->"
    notes, lines = {}, [marker, ""]

    def note(what):
        return f"({notes.setdefault(what, len(notes) + 1)})"

    def word(kind, text):
        if kind == "order":
            return text if text.startswith("within") else "order " + text
        if kind == "damped":
            return "damped by design " + note(verdict.REASONS.get(text, text))
        return "refused " + note(text) if kind == "refused" else "**WRONG** " + text if kind == "WRONG" else ""
    group = None
    for cell, row in table.items():
        if cell.group != group:
            group = cell.group
            lines += ["", f"## {group[0].upper() + group[1:]}", "", "| cell | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
        words = [word(*row.get(column, ("", ""))) for column in columns]
        lines.append(f"| {cell.name} | " + " | ".join(words) + " |")
    lines += [""] + [f"({number}) {what}.\n" for what, number in notes.items()]
    return text.split(marker)[0] + "\n".join(lines) + "\n"


def save(folder, cell, column):
    """The cell as a scene that runs by itself."""
    options = dict(cell.scene.get("law", {}), **verdict.COLUMNS[column])
    text = json.loads(judge.scene_text(cell.scene))
    text["simulation"] = {"duration": cell.time, "step": judge.STEPS[0], **options}
    name = "".join(letter if letter.isalnum() else "_" for letter in f"{cell} {column}")
    with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as file:
        json.dump(text, file, indent=1)


def main():
    warnings.simplefilter("ignore", RuntimeWarning)  # energies of runs that explode
    parser = argparse.ArgumentParser(prog="tools/matrix", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="only cells whose 'group: name' contains this")
    parser.add_argument("--columns", help="only these, separated by semicolons")
    parser.add_argument("--every", type=int, default=1, help="a sample: each n-th pair of cell and column")
    parser.add_argument("-o", help="the page to renew, docs/matrix.md")
    parser.add_argument("--scenes", help="a folder for scene files of the cells that are wrong")
    parser.add_argument("-v", action="store_true", help="all figures")
    given = parser.parse_args()
    columns = given.columns.split(";") if given.columns else list(verdict.COLUMNS)
    count = {}

    def report(cell, column, kind, text, out, seconds):
        count[kind] = count.get(kind, 0) + 1
        if kind == "WRONG" and given.scenes:
            save(given.scenes, cell, column)
        if kind == "WRONG" or given.v:
            print(f"{cell} | {column} | {kind} {text}" + (f" | order {out.order:.2f} errors {' '.join(f'{e:.1e}' for e in out.errors)}"
                  f" energy {' '.join(f'{g:+.1e}' for g in out.gains)} | {seconds:.1f} s" if given.v else ""), flush=True)
    table = fill(given.pattern, columns, given.every, report)
    if given.o:
        with open(given.o, encoding="utf-8") as file:
            text = file.read()
        with open(given.o, "w", encoding="utf-8") as file:
            file.write(page(table, columns, text))
    print(", ".join(f"{n} {kind}" for kind, n in sorted(count.items())) or "no such cell")
    return 1 if count.get("WRONG") or not count else 0


if __name__ == "__main__":
    sys.exit(main())
