"""Sizes for people: bytes in powers of 1024, labelled as Spark does, and problem sizes with their unit."""
from __future__ import annotations

from typing import Optional

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
BLOCK_BYTES = 134217728  # the unit of problem sizes that are measured by bytes
COUNTED = {"input_records": "record", "first_parallel_stage": "task", "first_stage": "task"}


def bytes_text(number: float) -> str:
    """`312 B`, `2.0 KiB`, `50.5 GiB`."""
    size, step = float(number), 0
    while size >= 1023.5 and step < len(UNITS) - 1:
        size, step = size / 1024, step + 1
    return "%.*f %s" % (0 if step == 0 or size >= 99.95 else 1, size, UNITS[step])


def problem_size_text(size: float, measure: Optional[str]) -> str:
    """`50.5 GiB in 404 blocks`, `4 tasks`; the number alone if the measure has no unit. measure: `problem_size_measured_by`."""
    number = "%.0f" % size if size == int(size) or size >= 1000 else "%.4g" % size
    if measure == "input_blocks":
        return "%s in %s" % (bytes_text(size * BLOCK_BYTES), _counted(number, "block"))
    return _counted(number, COUNTED[measure]) if measure in COUNTED else number


def _counted(number: str, noun: str) -> str:
    return "%s %s%s" % (number, noun, "" if number == "1" else "s")
