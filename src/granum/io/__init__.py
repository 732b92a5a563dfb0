"""Files: the recording of a run, and the checkpoints it can be continued from."""

from .checkpoint import checkpoint_path, read_checkpoint, write_checkpoint
from .read import Frame, FrameContacts, FrameWalls, Recording
from .write import RecordingWriter

__all__ = [
    "Frame",
    "FrameContacts",
    "FrameWalls",
    "Recording",
    "RecordingWriter",
    "checkpoint_path",
    "read_checkpoint",
    "write_checkpoint",
]
