"""The base of every record that a user writes: fixed after construction, unknown keys refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Vector = tuple[Finite, Finite, Finite]


class Record(BaseModel):
    """A validated record; scene files, command line, docs and HDF5 attributes are made from its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
