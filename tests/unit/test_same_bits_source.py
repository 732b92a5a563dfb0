"""Nothing on the way to the state asks a library for what depends on the CPU: ``granum.arithmetic`` has it.

Found in the source: transcendental functions of NumPy and of the C library, powers, matrix products, ``np.linalg``, sums whose order is
left to NumPy or Python, and random numbers that are made with such functions.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import granum

ROOT = Path(granum.__file__).parent
FOLDERS = ("state", "contact", "scene", "detection", "reduction", "smooth", "nonsmooth", "quasistatic", "linalg", "simulation")

FUNCTIONS = {
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "arcsin",
    "arccos",
    "arctan",
    "arctan2",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "power",
    "pow",
    "float_power",
    "cbrt",
    "hypot",
    "gamma",
    "lgamma",
    "erf",
    "dot",
    "vdot",
    "inner",
    "matmul",
    "einsum",
    "tensordot",
    "mean",
    "average",
    "std",
    "var",
    "sum",
    "nansum",
    "nanmean",
}
METHODS = {"dot", "mean", "std", "var", "sum"}
CHANCE = {"standard_normal", "normal", "lognormal", "exponential", "uniform", "poisson", "gamma", "beta"}

ALLOWED: dict[str, set[str]] = {
    # sums of whole numbers
    "detection/cells.py": {"file_in_cells"},
    "detection/mesh_table.py": {"join", "_build_grid"},
    "linalg/compiled.py": {"factorise"},
    "nonsmooth/impact.py": {"solve_impacts"},
    "quasistatic/jam.py": {"iterations"},
    "reduction/shadow.py": {"_joined"},
    "scene/scene.py": {"__repr__"},
    "simulation/meshes.py": {"_left_out"},
    "simulation/simulation.py": {"taken_out"},
    "simulation/threads.py": {"grains_in"},
    # measures and files, from which no state comes
    "quasistatic/measure.py": {"parts", "force_histogram"},
    "quasistatic/moduli.py": {"*"},
    "reduction/error.py": {"*"},
    "simulation/relaxed_file.py": {"*"},
    "simulation/coarse.py": {"*"},
    "nonsmooth/time_step.py": {"as_typed"},
    # solvers with sparse matrices of SciPy, for which nothing is promised
    "linalg/with_scipy.py": {"*"},
    "nonsmooth/local.py": {"*"},
    "nonsmooth/system.py": {"*"},
    "nonsmooth/solvers/direct.py": {"*"},
    "nonsmooth/solvers/elimination.py": {"*"},
    "nonsmooth/solvers/local.py": {"*"},
    "nonsmooth/solvers/local_direct.py": {"*"},
}
"""By file: functions that may; *: all of the file."""


def findings(path: Path) -> list[tuple[str, int, str]]:
    """Function, line and what was found there."""
    found: list[tuple[str, int, str]] = []

    def walk(node: ast.AST, where: str, compiled: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            where = f"{where}.{node.name}".lstrip(".")
            compiled = compiled or any(ast.unparse(d) in ("kernel", "device", "as_written") for d in node.decorator_list)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            if node.attr in FUNCTIONS or node.attr == "linalg":
                found.append((where, node.lineno, ast.unparse(node)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in METHODS or (node.func.attr in CHANCE and "rng" in ast.unparse(node.func.value)):
                found.append((where, node.lineno, f".{node.func.attr}()"))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("sum", "pow"):
            found.append((where, node.lineno, f"{node.func.id}()"))
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            found.append((where, node.lineno, "@"))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            whole = [isinstance(side, ast.Constant) and isinstance(side.value, int) for side in (node.left, node.right)]
            if not (all(whole) or (compiled and whole[1])):  # the compiler turns a whole exponent into products
                found.append((where, node.lineno, ast.unparse(node)))
        for child in ast.iter_child_nodes(node):
            walk(child, where, compiled)

    walk(ast.parse(path.read_text()), "", False)
    return found


SOURCES = [str(path.relative_to(ROOT)) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("name", SOURCES)
def test_no_library_decides_bits(name):
    allowed = ALLOWED.get(name, set())
    left = [f for f in findings(ROOT / name) if "*" not in allowed and f[0].split(".")[-1] not in allowed and f[0] not in allowed]
    assert not left, f"take these from granum.arithmetic, or name the function in ALLOWED if no state comes from it: {left}"
