"""Files: the recording of a run, and the checkpoints it can be continued from."""

from .checkpoint import checkpoint_path, read_checkpoint, write_checkpoint
from .data_table import DataTable
from .frame import Frame, FrameContacts, FrameJoints, FrameWalls
from .read import Recording
from .series import BodySeries, JointSeries
from .write import RecordingWriter

__all__ = [
    "BodySeries",
    "DataTable",
    "Frame",
    "FrameContacts",
    "FrameJoints",
    "FrameWalls",
    "JointSeries",
    "Recording",
    "RecordingWriter",
    "checkpoint_path",
    "read_checkpoint",
    "write_checkpoint",
]
