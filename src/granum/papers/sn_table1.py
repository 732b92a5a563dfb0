"""SN Table I: what 33 systems cost with both methods, computed, beside the printed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..analysis.cost_model import SN_TABLE, estimate
from .experiment import Outcome, Row, Runner
from .figures.sn import draw_table

TITLE = "the cost of 33 systems with both methods, computed (SN Table I)"
COLUMNS = {
    "ratio": 1.0,
    "effort_nonsmooth": 1.0,
    "effort_smooth": 1.0,
    "time_step_nonsmooth": 1e3,
    "time_step_smooth": 1e3,
    "iterations": 1.0,
    "grains": 1.0,
    "normal_velocity": 1e3,
}
"""What is printed, and the factor from SI to the printed unit (ms, mm/s)."""

# Row 1 prints N_p = 203 where pi/4 6^2 10 is 283 (its efforts are those of 283), and row 18 prints 2+9 for 2e+9.
PRINTED = (
    "0.02 2 100 3 0.003 19 283 0",
    "0.02 10 625 3 0.003 23 1.8K 0",
    "1.0 6e+3 6e+3 1 0.003 511 18K 6.1",
    "0.02 2e+4 7e+5 3 0.003 27 2M 0.34",
    "0.01 1 112 1 9e-5 132 10 0",
    "0.002 5 3e+3 1 9e-5 19 280 0.29",
    "0.01 200 2e+4 1 9e-5 117 1.8K 0.32",
    "0.002 40 2e+4 1 9e-5 23 1.8K 0.32",
    "0.05 9e+4 2e+6 1 9e-5 540 180K 6.3",
    "0.01 3e+5 2e+7 1 9e-5 131 2M 0",
    "2.6 6e+9 2e+9 0.4 9e-5 10534 200M 28",
    "0.2 4e+8 2e+9 1 9e-5 2107 200M 28",
    "150 3e+3 20 5 0.05 13200 1K 0",
    "0.09 0.5 6 10 0.05 19 280 0",
    "5.7 2e+3 400 5 0.05 511 18K 19",
    "0.13 5e+3 4e+4 10 0.05 26 2M 0",
    "0.16 6e+3 4e+4 10 0.05 32 2M 11",
    "460 2e+9 4e+6 1 0.05 10534 200M 88",
    "0.52 30 60 4 0.002 1320 100 0",
    "0.007 1 200 4 0.002 19 280 0",
    "0.07 100 2e+3 4 0.002 180 2.8K 0",
    "0.04 500 1e+4 4 0.002 102 18K 19",
    "0.01 1e+4 1e+6 4 0.002 27 2M 1.1",
    "0.01 2e+4 1e+6 4 0.002 32 2M 11",
    "15 2e+9 1e+8 1 0.002 10534 200M 88",
    "0.63 0.2 0.3 30 0.9 22 280 29",
    "34 7e+3 200 10 0.9 540 180K 63",
    "3.0 600 200 30 0.9 108 180K 63",
    "2600 6e+8 2e+5 4 0.9 10534 200M 280",
    "100 2e+7 2e+5 20 0.9 2107 200M 280",
    "0.1 0.008 0.08 30 0.1 26 10 0",
    "0.09 0.2 2 30 0.1 22 280 29",
    "0.1 2 10 30 0.1 27 1.8K 32",
)
CUT = {(3, "normal_velocity"), (9, "effort_nonsmooth"), (18, "ratio")}
"""Numbers whose digits were cut instead of rounded: 6.1 for 6.16, 9e+4 for 9.54e+4, 460 for 468.3."""


def printed_number(text: str) -> tuple[float, float]:
    """Value, and size of the last printed digit; zeros that end a whole number are no digits (280 for 282.7)."""
    plain = text.replace("K", "e+3").replace("M", "e+6")
    mantissa, _, exponent = plain.partition("e")
    decimals = len(mantissa.partition(".")[2])
    if not decimals and float(mantissa):
        decimals = len(mantissa.rstrip("0")) - len(mantissa)
    return float(plain), 10.0 ** (int(exponent or 0) - decimals)


def compared_row(row: int) -> list[tuple[str, float, str]]:
    """Name, computed value in the printed unit, and printed text of each number of a row, 1 to 33."""
    found = estimate(SN_TABLE[row - 1])
    printed = zip(COLUMNS.items(), PRINTED[row - 1].split(), strict=True)
    return [(name, scale * getattr(found, name), text) for (name, scale), text in printed]


def disagreements(row: int) -> list[str]:
    """Numbers of a row that are not the printed ones to the printed digits."""
    wrong = []
    for name, ours, text in compared_row(row):
        value, digit = printed_number(text)
        agrees = value <= ours < value + digit if (row, name) in CUT else abs(ours - value) <= digit / 2
        if not agrees:
            wrong.append(f"{name} {ours:.4g} ({text})")
    return wrong


@dataclass(frozen=True)
class TableSize:
    """Nothing is run: there is one size."""


QUICK = FULL = TableSize()


def measure(size: TableSize, run: Runner) -> Outcome:
    """Every row, ours beside the printed one."""
    rows = []
    for k, system in enumerate(SN_TABLE, start=1):
        numbers = compared_row(k)
        rows.append(
            Row(
                f"{k}: eps {system.tolerance:g}, {system.width:g} x {system.height:g} d, I {system.inertial:g}, "
                f"E {system.youngs_modulus / 1e9:g} GPa, d {1e3 * system.diameter:g} mm",
                "  ".join(f"{ours:.3g}" for _, ours, _ in numbers),
                "  ".join(printed for _, _, printed in numbers),
                numbers[0][1],
                not disagreements(k),
            )
        )
    count = sum(bool(row.agrees) for row in rows)
    cut = ", ".join(f"{name} of row {row}" for row, name in sorted(CUT))
    rows.append(
        Row(
            "rows that agree to their printed digits (columns: tN/tS, tN/t, tS/t, h_N and h_S [ms], N_it, N_p, v_n [mm/s])",
            f"{count} of 33; cut, not rounded, in the paper: {cut}",
            "33, with N_p = 203 of row 1 read as 283",
            float(count),
            count == len(rows),
        )
    )
    table = [compared_row(k) for k in range(1, len(SN_TABLE) + 1)]
    computed = {name: np.array([row[c][1] for row in table]) for c, name in enumerate(COLUMNS)}
    printed = {name: np.array([printed_number(row[c][2])[0] for row in table]) for c, name in enumerate(COLUMNS)}
    return Outcome(rows, {"computed": computed, "printed": printed})


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: both efforts and their ratio, row by row."""
    return [draw_table(outcome.curves, folder / "sn-table1.png")]
