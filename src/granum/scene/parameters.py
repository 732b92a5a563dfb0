"""What a scene was made with: one record for each kind of scene, which measures and experiments read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, SerializeAsAny

from ..checks import InputError
from ..contact.power import PowerLaw
from ..records import Record

if TYPE_CHECKING:
    from .scene import Scene


class Parameters(Record):
    """The base; a kind of scene adds its fields, and its name as the default of ``scene``."""

    kinds: ClassVar[dict[str, type[Parameters]]] = {}
    measured: ClassVar[bool] = False
    """Whether results of such a scene cannot be found without these: then scene files have them, too."""

    scene: str
    """Which kind of scene it is: the name of the library scene."""
    chosen: dict[str, float | int | str | None] = Field(default_factory=dict)
    """Values in effect of those parameters of the library scene that have no fixed default."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls.kinds[cls.model_fields["scene"].default] = cls


Kind = TypeVar("Kind", bound=Parameters)


class PackingParameters(Parameters):
    """Of the scene of a packing (``granum.packing_scene``)."""

    scene: str = "packing"
    count: int
    dim: int
    phi: float
    """Packing fraction."""
    law: PowerLaw


class OtherParameters(Parameters):
    """Of a scene that nobody here knows, such as one of a Python file: whatever its file has."""

    model_config = ConfigDict(extra="allow")

    scene: str = ""


def _of_its_kind(tree: Any) -> Any:
    """Parameters from a file, as the record of their kind of scene."""
    if not isinstance(tree, dict):
        return tree
    from . import library  # noqa: F401  (its scenes make their records known)

    return Parameters.kinds.get(str(tree.get("scene")), OtherParameters).__pydantic_validator__.validate_python(tree)


def parameters_of(scene: Scene, kind: type[Kind]) -> Kind:
    """The parameters of a scene of that kind; a refusal for any other."""
    if not isinstance(scene.parameters, kind):
        raise InputError(f"scene {scene.name!r} is not made as {kind.model_fields['scene'].default!r} of the library is.")
    return scene.parameters


AnyParameters = Annotated[SerializeAsAny[Parameters], BeforeValidator(_of_its_kind)]
