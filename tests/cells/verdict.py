"""What a cell may be: order 2, order 1, damped by design, refused; anything else is WRONG, with its figures.

The promises are those of docs/schemes.md and docs/joints.md: this file is where they stand in a form that a run can break.
"""
import math

import numpy as np

import judge

COLUMNS = {
    "stabilized": {"scheme": "stabilized"},
    "stabilized, located": {"scheme": {"stabilized": {"locate": True}}},
    "euler": {"scheme": "euler"},
    "trapezoid": {"scheme": "trapezoid"},
    "alpha-gamma 0.6": {"scheme": {"alpha-gamma": {"alpha": 0.6, "gamma": 0.6}}},
    "spook": {"scheme": "spook"},
    "stabilized, closed": {"scheme": "stabilized", "close_joints": True},
    "spook, closed": {"scheme": "spook", "close_joints": True},
    "stabilized, swift": {"scheme": "stabilized", "effort": "swift"},
    "accuracy": {"accuracy": 1e-4},
}
SLACK = 0.35       # of an observed order, as in `slipstick verify`
KEPT = 0.01        # of the energy that moves, in 20 s at 1/200 s
SWING = 0.05       # the same, if it falls with the step as fast as the order says, and the cell is none that `keeps` its energy
ROUNDING = 3e-9    # m or rad: errors below that have no order
TOO_FAR = 0.5      # m or rad at 1/800 s: not the same motion any more

REASONS = {
    "alpha": "alpha above 1/2 damps all that swings, by an amount of first order: that is what it is for (schemes.md, the family)",
    "stiff": "springs stiffer than the step can follow are taken at the end of their way (schemes.md, joints)",
    "carried": "what a contact carries, a motor drives or friction rubs is implicit, of first order (schemes.md, flight)",
}


def is_fixed(column):
    return column.startswith(("stabilized", "euler"))


def promised(column, cell):
    """The order that the docs promise; None where steps choose themselves."""
    marks, group = cell.marks, cell.group
    if column == "accuracy":
        return None
    if column.startswith("spook"):
        return 2 if marks.get("alone") else 1
    if column == "alpha-gamma 0.6":
        return 1
    if marks.get("stiff"):
        return 1
    if column == "trapezoid":
        return 2
    alone = not any(marks.get(name) for name in ("driven", "contact", "coupled"))
    return 2 if alone and group != "coupling" and "screw" not in cell.name else 1


def reason(column, cell):
    """Why a scheme may lose energy in a cell; None: it may not."""
    if column == "alpha-gamma 0.6":
        return "alpha"
    if cell.marks.get("stiff"):
        return "stiff"
    if column in ("trapezoid", "accuracy"):
        return None
    if cell.marks.get("contact") or cell.marks.get("driven"):
        return "carried"
    return None


def decay(gain):
    return -math.log(max(1 + gain, 1e-3))


def check_energy(out, cell, options, known, want, why):
    """None, a reason, or what is wrong."""
    gain = out.gain
    if not math.isfinite(gain):
        return "WRONG", f"energy {gain:+.1g}"
    if abs(gain) <= KEPT:
        return None, None
    if cell.lossy:
        falls = len(out.gains) > 1 and judge.slope(judge.STEPS[1:], np.abs(out.gains)) >= want - SLACK
        return (None, None) if falls and abs(gain) < 0.5 else ("WRONG", f"energy {gain:+.2g} of what moves at 1/800 s")
    finer = judge.Verdict()
    judge.judge_kept(cell, options, known, finer, judge.ENERGY_STEP / 4)
    falls = abs(finer.gain) <= 4**(SLACK - (want or 2)) * abs(gain)
    if falls and abs(gain) <= SWING and not cell.marks.get("keeps"):
        return None, None
    settled = min(decay(finer.early) / max(decay(out.early), 1e-9), decay(finer.gain) / max(decay(gain), 1e-9))  # all may be gone at the end
    if gain < 0 and why and settled <= 0.5:
        return "damped", why
    return "WRONG", f"energy {gain:+.2g} of what moves in 20 s, at h/4 {finer.gain:+.2g}"


def class_of(cell, column, known):
    """(kind, text): kind one of order, damped, refused, WRONG."""
    options = COLUMNS[column]
    out = judge.judge(cell, options, known)
    if out.refused:
        return "refused", out.refused, out
    faults = []
    if out.uncertified:
        faults.append(f"{out.uncertified} steps not certified")
    if out.note:
        faults.append(out.note)
    want = promised(column, cell)
    exact = len(out.errors) > 0 and max(out.errors) < ROUNDING
    if out.note.startswith(("too dear", "diverged")):
        return "WRONG", "; ".join(faults), out
    if want is None:
        limit = 10 * options["accuracy"] * max(1.0, cell.time)
        faults += [f"error {out.errors[0]:.1e}, asked {options['accuracy']:g}"] if not out.errors[0] <= limit else []
    else:
        if not exact and out.order < want - SLACK and len(out.errors) == len(judge.STEPS):
            judge.refine(cell, options, known, out)
        if not exact and not out.order >= want - SLACK:
            faults.append(f"order {out.order:.2f} of {want} (errors " + " ".join(f"{e:.1e}" for e in out.errors) + ")")
        if out.errors[-1] > TOO_FAR:
            faults.append(f"{out.errors[-1]:.1g} off")
    kind, text = check_energy(out, cell, options, known, want, reason(column, cell)) if out.gains else (None, None)
    if kind == "WRONG":
        faults.append(text)
    if faults:
        return "WRONG", "; ".join(faults), out
    if kind == "damped":
        return "damped", text, out
    if want is None:
        return "order", f"within {out.errors[0] / options['accuracy']:.2g}", out
    return "order", "2" if exact or out.order >= 2 - SLACK else "1", out
