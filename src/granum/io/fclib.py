"""FCLIB files: frictional contact problems of the Frictional Contact Library, in local form (W, q, mu), in HDF5.

The layout, as that library writes it::

    /fclib_local/spacedim            (1,) int   3, or 2 in a plane
    /fclib_local/W/m, n, nzmax, nz   (1,) int   rows, columns, room for entries, and the form
                 /p, i, x                       nz = -1: compressed columns (p (n + 1), row numbers i)
                                                nz = -2: compressed rows (p (m + 1), column numbers i)
                                                nz >= 0: nz triplets (row p, column i)
    /fclib_local/vectors/q, mu       (m,) and (m / spacedim,) double
    /fclib_local/info/title, description, math_info      strings, all optional
    /solution/u, r                   (m,) double, optional
    /guesses/number_of_guesses       (1,) int, optional; then /guesses/1/u, r and so on

Components stand contact by contact, the normal first. Problems with equality constraints (V, R, s) and those in global form (M, H, f, w)
are refused.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy import sparse

from ..array_types import FloatArray
from ..checks import InputError
from ..nonsmooth.local import LocalProblem
from .contained import check_contained, check_texts
from .read import DAMAGE, DamagedFileError, has_format
from .whole import replace_file

_WAY_OUT = "Copy it again from where it was written."
LOCAL, GLOBAL_FORMS = "fclib_local", ("fclib_global", "fclib_global_rolling")
COMPRESSED_COLUMNS, COMPRESSED_ROWS = -1, -2


@dataclass(frozen=True)
class FclibProblem:
    """What a FCLIB file holds."""

    problem: LocalProblem
    """Its impulses are the first guess, or 0."""
    title: str = ""
    description: str = ""
    math_info: str = ""
    solution: FloatArray | None = None
    """(R,) r that the file gives as solution."""
    guesses: tuple[FloatArray, ...] = field(default_factory=tuple)
    """Each (R,) r."""


def is_fclib(path: Path) -> bool:
    """Whether ``path`` is a FCLIB file, in local form or another."""
    return has_format(path, lambda file: any(name in file for name in (LOCAL, *GLOBAL_FORMS)))


def write_fclib(path: str | Path, content: FclibProblem) -> None:
    """Into the file ``path``, as the C library would, W in compressed columns; whole or not at all."""
    problem, path = content.problem, Path(path)
    if problem.contact_count == 0:
        raise InputError("a problem without contacts has no FCLIB file: the format needs one at least.")
    w = sparse.csc_array(problem.matrix)
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        local = file.create_group(LOCAL)
        _write_int(local, "spacedim", problem.dimension)
        group = local.create_group("W")
        for name, value in (("nzmax", w.nnz), ("m", w.shape[0]), ("n", w.shape[1]), ("nz", COMPRESSED_COLUMNS)):
            _write_int(group, name, value)
        group["p"], group["i"], group["x"] = w.indptr.astype(np.int32), w.indices.astype(np.int32), w.data.astype(np.float64)
        vectors = local.create_group("vectors")
        vectors["q"], vectors["mu"] = problem.offset.astype(np.float64), problem.friction.astype(np.float64)
        info = local.create_group("info")
        for name in ("title", "description", "math_info"):
            _write_text(info, name, getattr(content, name))
        if content.solution is not None:
            _write_impulses(file.create_group("solution"), problem, content.solution)
        if content.guesses:
            group = file.create_group("guesses")
            _write_int(group, "number_of_guesses", len(content.guesses))
            for k, guess in enumerate(content.guesses, 1):
                _write_impulses(group.create_group(str(k)), problem, guess)
    replace_file(path, image.getbuffer(), "FCLIB file")


def read_fclib(path: str | Path) -> FclibProblem:
    """The problem of a FCLIB file in local form; InputError if it is none or cannot be solved."""
    path = Path(path)
    try:
        with h5py.File(path, "r") as file:
            check_texts(path)
            check_contained(file, path, "FCLIB file")
            if LOCAL not in file:
                form = next((name for name in GLOBAL_FORMS if name in file), None)
                raise InputError(
                    f"{path} is a FCLIB file in another form ({form}): granum reads the local one. "
                    "Write that: W = H^T M^-1 H, q = H^T M^-1 f + w."
                    if form
                    else f"{path} is not a FCLIB file: it has no group {LOCAL!r}."
                )
            return _read(path, file)
    except DAMAGE as error:
        if isinstance(error, InputError):
            raise
        raise DamagedFileError(path, "FCLIB file", error, _WAY_OUT) from error


def _read(path: Path, file: h5py.File) -> FclibProblem:
    def refuse(what: str) -> InputError:
        return InputError(f"FCLIB file {path} cannot be solved: {what}.")

    local = file[LOCAL]
    if "V" in local or "R" in local:
        raise refuse("it has equality constraints (V, R), and granum knows contacts alone")
    dimension = _read_int(local["spacedim"])
    if dimension not in (2, 3):
        raise refuse(f"spacedim must be 2 or 3 (got {dimension})")
    w = _read_matrix(local["W"])
    q, mu = local["vectors/q"][()].astype(np.float64), local["vectors/mu"][()].astype(np.float64)
    rows = w.shape[0]
    if w.shape != (rows, rows) or q.shape != (rows,) or mu.shape != (rows // dimension,) or rows % dimension:
        raise refuse(f"W {w.shape}, q {q.shape} and mu {mu.shape} do not fit together for {dimension} components per contact")
    solution = file["solution/r"][()] if "solution" in file else None
    guesses: tuple[FloatArray, ...] = ()
    if "guesses" in file:
        guesses = tuple(file[f"guesses/{k}/r"][()] for k in range(1, _read_int(file["guesses/number_of_guesses"]) + 1))
    named = {"W": w.data, "q": q, "mu": mu, **{f"guess {k}": guess for k, guess in enumerate(guesses, 1)}}
    for name, array in (named if solution is None else named | {"solution": solution}).items():
        if not np.isfinite(array).all():
            raise refuse(f"{name} holds numbers that are not finite")
        if name not in ("W", "mu") and array.shape != (rows,):
            raise refuse(f"{name} has {array.size} numbers where {rows} are due")
    if (mu < 0).any():
        raise refuse(f"mu must be 0 or more (got {mu.min():g})")
    texts = {name: _read_text(local["info"], name) for name in ("title", "description", "math_info")} if "info" in local else {}
    start = guesses[0].copy() if guesses else np.zeros(rows)
    return FclibProblem(LocalProblem(w, q, mu, start, dimension), solution=solution, guesses=guesses, **texts)


def _read_matrix(group: h5py.Group) -> sparse.sparray:
    """In the form of the file, entries beyond its count left out."""
    m, n, nz = (_read_int(group[name]) for name in ("m", "n", "nz"))
    p, i, x = group["p"][()], group["i"][()], group["x"][()].astype(np.float64)
    if nz >= 0:
        row, column, x = p[:nz], i[:nz], x[:nz]
        fits = len(row) == len(column) == len(x) == nz
        if not fits or (nz and not (0 <= row.min() <= row.max() < m and 0 <= column.min() <= column.max() < n)):
            raise ValueError("the triplets of W do not fit its size")
        return sparse.coo_array((x, (row, column)), shape=(m, n))
    if nz not in (COMPRESSED_COLUMNS, COMPRESSED_ROWS):
        raise ValueError(f"W has an unknown form, nz = {nz}")
    major, minor = (n, m) if nz == COMPRESSED_COLUMNS else (m, n)
    count = int(p[-1])
    if len(p) != major + 1 or p[0] != 0 or (np.diff(p) < 0).any() or count > min(len(i), len(x)):
        raise ValueError("the entries of W do not fit its size")
    i, x = i[:count], x[:count]
    if count and not 0 <= i.min() <= i.max() < minor:
        raise ValueError("an entry of W lies outside of it")
    form = sparse.csc_array if nz == COMPRESSED_COLUMNS else sparse.csr_array
    return form((x, i, p), shape=(m, n))


def _write_impulses(group: h5py.Group, problem: LocalProblem, impulse: FloatArray) -> None:
    group["u"], group["r"] = problem.start_at(impulse).velocity, impulse.astype(np.float64)


def _write_int(group: h5py.Group, name: str, value: int) -> None:
    group[name] = np.array([value], np.int32)


def _read_int(data: h5py.Dataset) -> int:
    return int(np.ravel(data[()])[0])


def _write_text(group: h5py.Group, name: str, text: str) -> None:
    """A string of fixed length that ends with a zero, as C programs expect it."""
    raw = text.encode() + b"\0"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(raw))
    data = h5py.h5d.create(group.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(raw, f"S{len(raw)}"), kind)


def _read_text(group: h5py.Group, name: str) -> str:
    value: Any = group[name][()] if name in group else b""
    return value.decode(errors="replace").rstrip("\0") if isinstance(value, bytes) else str(value)
