"""``granum doctor``: versions, threads, cache, and whether this installation computes what it should, to the bit."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..progress import Bar
from ..talk import talk
from .console import in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .tables import show_rows

if TYPE_CHECKING:
    from ..golden import Golden

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "h5py", "pydantic", "typer", "rich", "matplotlib", "trimesh")


def register(app: typer.Typer) -> None:
    app.command("doctor")(in_words(doctor))


def doctor(
    clear_cache: Annotated[bool, typer.Option("--clear-cache", help="Remove compiled kernels and kept benchmark boxes first.")] = False,
    compile_all: Annotated[bool, typer.Option("--warm", help="Compile the kernels of all steppers, solvers and walls now.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    as_csv: CsvFlag = False,
) -> None:
    """Print versions, threads, threading layer and cache state, and run a short self-test, with granum's reference bits.

    \b
    granum doctor
    granum doctor --warm
    """
    from .._jit import cache_is_warm, kernel_folder
    from ..caches import cache_root, remove_own
    from ..golden import expected, machine
    from ..linalg.cholesky import chosen
    from ..parallel import cores

    one_format(as_json, as_csv)
    reference = expected()

    if clear_cache:
        root = cache_root()
        for old in (root / "compiled", root / "bench") if root is not None else ():
            remove_own(old)
        kernel_folder.cache_clear()
        talk(f"cleared {root}" if root is not None else "there is no cache to clear")
    warm = cache_is_warm()
    if compile_all:
        warm_up()
    elif not warm:
        talk("compiling kernels, once")
    report: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine(), "cpu": machine()["cpu"], **_versions()}
    report |= {"cores": cores(), "threads": f"up to {cores()}", "threading_layer": "own (no tbb or omp needed)"}
    report["cache"] = str(kernel_folder() or "none: no folder that only this user can write")
    report["sparse_factors"] = f"{chosen().method} ({chosen().reason})"
    report |= {"cache_state": "warm" if warm else "cold, compiled now", "tests": self_test(reference)}
    report["passed"] = all(test["passed"] for test in report["tests"].values())
    if as_json:
        print_json(report)
    elif as_csv:
        print_rows([report])
    else:
        _show(report)
    if not report["passed"]:
        raise typer.Exit(1)


def warm_up() -> None:
    """Run all scenes whose bits are known: they have every kind of wall, source, stepper and solver, and so compile what runs need."""
    from ..golden import SCENES, compute

    with Bar("compiling kernels", every=2.0) as bar:
        for done, name in enumerate(SCENES):
            bar.show(done / len(SCENES), [name])
            compute([name])


def _versions() -> dict[str, str]:
    from .._version import __version__

    found = {"granum": __version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def self_test(reference: Golden) -> dict[str, dict[str, Any]]:
    """A column carries its weight; the same input gives the same bits, on two threads as on one, and here as anywhere."""
    import numpy as np

    from ..analysis import state_hash
    from ..golden import compute, verdict
    from ..nonsmooth import PGS
    from ..scene.library import box, column
    from ..simulation import simulate

    runs = [simulate(column(count=10), duration=1.5, solver=PGS(iterations=200)) for _ in range(2)]
    force = np.sort(runs[0].contacts.normal_force)
    weight = runs[0].bodies.mass[0] * 9.81 * np.arange(1, 11)
    error = float(np.max(np.abs(force / weight - 1))) if len(force) == 10 else float("inf")
    runs += [simulate(box(count=2500), duration=0.1, threads=threads) for threads in (1, 2)]
    hashes = [state_hash(r.position, r.orientation, r.velocity, r.spin) for r in runs]
    kept, said = verdict(compute(["box"]), reference)
    return {
        "column carries its weight": {"passed": error < 1e-6, "detail": f"largest relative error {error:.1e}"},
        "same input, same bits": {"passed": hashes[0] == hashes[1], "detail": hashes[0][:16]},
        "same bits on two threads": {"passed": hashes[2] == hashes[3], "detail": hashes[2][:16]},
        "reference bits": {"passed": kept, "detail": said},
    }


def _show(report: dict[str, Any]) -> None:
    rows = [(name.replace("_", " "), str(value)) for name, value in report.items() if name not in ("tests", "passed")]
    for name, test in report["tests"].items():
        rows.append((name, ("[green]pass[/green]" if test["passed"] else "[red]FAIL[/red]") + f"  {test['detail']}"))
    show_rows(rows, "granum doctor")
