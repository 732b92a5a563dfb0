"""What changes in time: bodies and contacts, and the arithmetic of rotations."""

from .bodies import Bodies
from .contacts import Contacts

__all__ = ["Bodies", "Contacts"]
