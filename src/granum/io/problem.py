"""Contact problems in files: those of granum, kept so that they are solved again with the same bits."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..nonsmooth.rebuild import ProblemParts
from . import layout
from .read import DAMAGE, DamagedFileError, has_format, open_checked
from .whole import digest, replace_file

_WAY_OUT = "Write it again with `granum run SCENE --dump-problem T`."
TABLES = {
    "bodies": layout.PROBLEM_BODIES,
    "inertia": layout.PROBLEM_INERTIA,
    "contacts": layout.PROBLEM_CONTACTS,
    "levers": layout.PROBLEM_LEVERS,
}
UNIT = 1e-9  # normals are that near to unit length
NUMBERS = {"rolling": bool, "box": bool, "soft_t": float, "pair_count": int, "first_full": int}  # of the parts, in the description


@dataclass(frozen=True)
class SavedProblem:
    """A contact problem and where it comes from."""

    parts: ProblemParts
    position: FloatArray
    """(S, 3) [m] of the body slots; of a wall: where it is touched."""
    scene: str = ""
    step: int = 0
    """Number of the step that it was to solve; the first is 1."""
    time: float = 0.0
    """At the end of that step [s]."""
    time_step: float = 0.0
    """[s]"""
    solver: dict[str, Any] = field(default_factory=dict)
    """The run's own, with its settings."""

    @property
    def contact_count(self) -> int:
        return len(self.parts.a)

    @property
    def body_count(self) -> int:
        """That yield."""
        return int(np.count_nonzero(self.parts.inverse_mass))

    @property
    def about(self) -> dict[str, Any]:
        """Where it comes from."""
        return {"scene": self.scene, "step": self.step, "time": self.time, "time_step": self.time_step, "solver": self.solver}


def problem_path(recording_path: str | Path, time: float) -> Path:
    """Where the problem of a run lies: ``run.vtkhdf`` (or ``run.h5``) at 0.5 s -> ``run.problem-0.5.h5``."""
    path = Path(recording_path)
    ending = ".h5" if path.suffix == layout.RECORDING_ENDING else path.suffix
    return path.with_name(f"{path.stem}.problem-{time:.12g}{ending}")


def write_problem(path: str | Path, problem: SavedProblem) -> None:
    """Into the file ``path``, whole or not at all; OutputError if the disk does not take it."""
    parts = problem.parts
    description = json.dumps({**problem.about, **{name: kind(getattr(parts, name)) for name, kind in NUMBERS.items()}})
    arrays = {
        f"{table}/{column.name}": np.ascontiguousarray(_content(problem, table, column.name), column.dtype)
        for table, columns in TABLES.items()
        for column in columns
    }
    image = io.BytesIO()
    with h5py.File(image, "w", libver=("v110", "v110")) as file:
        for table, columns in TABLES.items():
            for column in columns:
                name = f"{table}/{column.name}"
                file[name] = arrays[name]
                file[name].attrs.update(unit=column.unit, meaning=column.meaning)
        file["description"] = description
        file.attrs.update(format=layout.PROBLEM_FORMAT, version=layout.PROBLEM_VERSION, created_by=layout.CREATED_BY)
        file.attrs["sha256"] = digest(description, arrays)
    replace_file(Path(path), image.getbuffer(), "problem")


def read_problem(path: str | Path) -> SavedProblem:
    """The problem of a file; InputError if it is none, if any of it has changed, or if its numbers cannot be solved."""
    path = Path(path)
    with open_checked(path, "problem", "/", layout.PROBLEM_FORMAT, layout.PROBLEM_VERSION, _WAY_OUT) as file:
        try:
            text = file["description"].asstr()[()]
            arrays = {f"{table}/{c.name}": file[f"{table}/{c.name}"][()] for table, columns in TABLES.items() for c in columns}
            intact = file.attrs["sha256"] == digest(text, arrays)
            about = json.loads(text)
            numbers = {name: kind(about.pop(name)) for name, kind in NUMBERS.items()}
            saved = SavedProblem(
                parts=ProblemParts(
                    **numbers,
                    inverse_inertia=arrays.pop("inertia/inverse"),
                    **{name.partition("/")[2]: array for name, array in arrays.items() if name != "bodies/position"},
                ),
                position=arrays["bodies/position"],
                **about,
            )
        except DAMAGE as error:
            raise DamagedFileError(path, "problem", error, _WAY_OUT) from error
    if not intact:
        raise DamagedFileError(path, "problem", "its content does not match its digest", _WAY_OUT)
    _check(path, saved)
    return saved


def is_problem(path: Path) -> bool:
    """Whether ``path`` is a problem file of granum."""
    return has_format(path, lambda file: bool(file.attrs.get("format") == layout.PROBLEM_FORMAT))


def _content(problem: SavedProblem, table: str, name: str) -> np.ndarray:
    if (table, name) == ("bodies", "position"):
        return problem.position
    return getattr(problem.parts, "inverse_inertia" if table == "inertia" else name)


def _check(path: Path, saved: SavedProblem) -> None:
    """Shapes, numbers and references are such that a solver may trust them."""

    def refuse(what: str) -> InputError:
        return InputError(f"problem {path} cannot be solved: {what}. {_WAY_OUT}")

    parts = saved.parts
    for table, columns in TABLES.items():
        count = len(_content(saved, table, columns[0].name))
        for column in columns:
            array = _content(saved, table, column.name)
            if array.dtype != column.dtype or array.shape != (count, *column.width):
                raise refuse(f"{table}/{column.name} is {array.dtype} {array.shape} where {count} rows of {column.width} are due")
            if not np.isfinite(array).all():
                raise refuse(f"{table}/{column.name} holds numbers that are not finite")
    slots, contacts, full = len(parts.inverse_mass), len(parts.a), len(parts.inverse_inertia)
    if not 0 <= parts.pair_count <= contacts or slots != parts.first_full + full + contacts - parts.pair_count:
        raise refuse("its numbers of bodies and contacts do not fit together")
    for name, limit in (("a", slots), ("b", slots), ("lever_contact", contacts)):
        array = getattr(parts, name)
        if len(array) and not 0 <= array.min() <= array.max() < limit:
            raise refuse(f"{name} points outside of its {limit} rows")
    if np.any(parts.a == parts.b):
        raise refuse("a contact has the same body on both sides")
    if np.any(np.abs(np.linalg.norm(parts.normal, axis=1) - 1) > UNIT):
        raise refuse("a normal is not of unit length")
    owner = np.column_stack([parts.a, parts.b]) - parts.first_full
    owner[(owner < 0) | (owner >= full)] = -1  # a grain, or a wall that has a slot of its own
    if not np.array_equal(parts.lever_contact, np.flatnonzero((owner >= 0).any(axis=1))):
        raise refuse("its lever arms are not those of the bodies with full inertia")
    if not np.array_equal(parts.lever_body, owner[parts.lever_contact]):
        raise refuse("its lever arms belong to other bodies")
    if not np.isfinite(parts.soft_t):
        raise refuse(f"soft_t is {parts.soft_t}")
    for name in ("inverse_mass", "softness", "friction", "rolling_radius", "soft_t"):
        if np.any(np.asarray(getattr(parts, name)) < 0):
            raise refuse(f"{name} has negative numbers")
    radii = parts.inverse_radius[np.concatenate([parts.a, parts.b])]  # a wall that has a slot of its own leaves its contacts' ones empty
    if np.any(parts.inverse_diagonal[:, : 3 if parts.rolling else 2] <= 0) or np.any(radii <= 0):
        raise refuse("a diagonal or a radius is not above 0")
