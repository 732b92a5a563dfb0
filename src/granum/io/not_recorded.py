"""What stands in place of arrays that a recording was told to leave out (``record`` of the run's settings)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from ..checks import InputError


class NotRecorded:
    """In place of an array: whoever uses it is told that the recording does not hold it, and how it would."""

    def __init__(self, what: str, path: Path | None) -> None:
        self.what, self.path = what, path

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """InputError in words."""
        raise InputError(
            f"{self.path or 'the recording'} holds no {self.what}: its run was told to record other things only. "
            f"Run it again with --record ...,{self.what}, or without --record."
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what others look for to find out what this is
            raise AttributeError(name)
        self.refuse()

    def __repr__(self) -> str:
        return f"<{self.what}: not recorded>"

    __array__ = __len__ = __iter__ = __getitem__ = __bool__ = __float__ = __neg__ = __abs__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __matmul__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = refuse
