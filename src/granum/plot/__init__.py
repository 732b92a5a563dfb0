"""Pictures from numbers; matplotlib without a window."""

from .picture import scene_picture

__all__ = ["scene_picture"]
