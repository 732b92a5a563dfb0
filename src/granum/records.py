"""The base of every record that a user writes: fixed after construction, unknown keys refused."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

SMALLEST, LARGEST = 1e-100, 1e100


def _number(value: Any) -> Any:
    """A text or a truth value is not taken for a number."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise ValueError("must be a number")
    return value


def _sized(value: float) -> float:
    """Squares of coordinates, velocities and the like must be numbers, too."""
    if value != 0 and not SMALLEST <= abs(value) <= LARGEST:
        raise ValueError(f"must be 0 or from {SMALLEST:g} to {LARGEST:g} in size")
    return value


Whole = Annotated[int, Field(lt=2**63), BeforeValidator(_number)]
Sweeps = Annotated[int, Field(ge=1, le=10**6), BeforeValidator(_number)]
"""Of a solver in one step; more would never end."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_number)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(_number)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(_number)]
Finite = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_number), AfterValidator(_sized)]
Vector = tuple[Finite, Finite, Finite]


class Record(BaseModel):
    """A validated record; scene files, command line, docs and HDF5 attributes are made from its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
