"""What an extension is made of: the record of its settings with all that a run asks of it, and what it is at work with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from ..array_types import IntArray
from ..records import Record

if TYPE_CHECKING:
    from ..contact import PairTable
    from ..detection.detector import Detector
    from ..detection.wall_table import WallTable
    from ..parallel import Team
    from ..scene.scene import Scene
    from ..state.bodies import Bodies
    from ..state.columns import Column
    from ..state.saved import SavedPart
    from ..state.stages import Stage


class Scalar(NamedTuple):
    """A number that every step reports and every frame has. Summaries have the last one."""

    name: str
    unit: str
    meaning: str
    whole: bool = False
    """A whole number."""
    mean: bool = False
    """Summaries also have its mean over the frames, as ``mean_NAME``."""
    progress: str = ""
    """How the progress of a run tells it, such as ``level {:.0%}``; nothing: not at all."""


class ExtensibleStepper(Protocol):
    """What an extension is given of a stepper. It may put stages of its own among ``stages``."""

    scene: Scene
    bodies: Bodies
    walls: WallTable
    detector: Detector
    pairs: PairTable
    team: Team
    stages: list[Stage]


class Shadow(Protocol):
    """A run beside a run, which looks at it and does not change it."""

    def before_step(self, sim: Any) -> None: ...
    def after_step(self, sim: Any) -> None: ...
    def scalars(self) -> dict[str, float]:
        """More numbers for a frame."""

    def checkpoint(self) -> dict[str, Any]: ...
    def restore(self, saved: dict[str, Any], sim: Any) -> None: ...


class StepPart(Protocol):
    """An extension at work in a stepper. What its stages tell of a step they write into ``more`` of the context (``StepContext``)."""

    def at_start(self) -> dict[str, float]:
        """The scalars before the first step."""

    def shadow(self) -> Shadow | None:
        """A run that is to go on beside that of the stepper, if one is wanted."""

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""


EXTENSIONS: dict[str, type[Extension]] = {}
"""All extensions by name, as far as their files have been read (see ``extensions``)."""


class Extension(Record, ABC):
    """Settings of an extension, a field of the settings of its stepper. A subclass that has a name is known from then on."""

    name: ClassVar[str]
    """Of its folder, of its field in the stepper's settings, and of its settings in summaries."""
    saved_as: ClassVar[str]
    """In checkpoints of the stepper."""
    scalars: ClassVar[tuple[Scalar, ...]] = ()
    columns: ClassVar[tuple[Column, ...]] = ()
    """More columns of grains in recordings and snapshots."""
    timers: ClassVar[tuple[str, ...]] = ()
    """Names of its stages, as far as they have timers of their own."""
    not_smooth: ClassVar[str] = ""
    """Why the smooth stepper does not have it."""
    of_contacts: ClassVar[str] = ""
    """What a reader of the number of contacts has to know."""

    @classmethod
    def __pydantic_init_subclass__(cls, **given: Any) -> None:
        super().__pydantic_init_subclass__(**given)
        EXTENSIONS[cls.name] = cls

    def check(self, scene: Scene) -> None:
        """Refuse a scene that it does not go together with."""

    def check_start(self, sim: Any) -> None:
        """Refuse a new simulation that it does not go together with."""

    @abstractmethod
    def extend(self, stepper: ExtensibleStepper) -> StepPart:
        """Begin to work in a stepper that has just been made."""

    def check_saved(self, part: SavedPart, scene: Scene, grains: int, first: int) -> None:
        """Refuse a checkpoint of its part of the stepper that must not be trusted; ``first`` is the row of the first grain."""

    def check_shadow(self, part: SavedPart, check: Callable[[Mapping[str, Any]], None]) -> None:
        """The same of the checkpoint of its shadow; ``check`` looks at that of a simulation inside of it."""

    def summary(self, sim: Any) -> dict[str, Any]:
        """What it has come to at the end of a run, besides the last scalars."""
        return {}

    @classmethod
    def rows(cls, summary: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Of the table of a run's summary."""
        return []


def chosen(settings: Record) -> tuple[Extension, ...]:
    """The extensions that the settings of a stepper ask for."""
    found = (getattr(settings, name) for name in type(settings).model_fields)
    return tuple(value for value in found if isinstance(value, Extension))
