"""How bodies push: materials, their pair table, and the laws of the normal force."""

from importlib import import_module
from pkgutil import iter_modules

from .hertz import HertzContact
from .law import LAWS, ContactLaw, Law
from .linear import LinearContact
from .material import Material, MaterialPair
from .pair_table import PairTable

for _module in iter_modules(__path__):  # a law is known when its file has been read
    import_module(f"{__name__}.{_module.name}")

__all__ = ["LAWS", "ContactLaw", "HertzContact", "Law", "LinearContact", "Material", "MaterialPair", "PairTable"]
