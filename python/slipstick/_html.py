"""What notebooks show of a scene, a simulation, a report or a recording: a small table. Names are text, never markup."""
from __future__ import annotations

import html
from typing import Iterable

_MOST_NAMES = 8


def names(items: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    said = list(items)
    more = len(said) - _MOST_NAMES
    return ", ".join(said[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "") if said else "none"


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A heading and a row for each property."""
    body = "".join(f'<tr><td style="text-align:left"><b>{html.escape(key)}</b></td>'
                   f'<td style="text-align:left">{html.escape(str(value))}</td></tr>' for key, value in rows)
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"
