"""Many independent runs, one pool for all of them: processes here or a Dask cluster, with finished runs kept on disk."""

from .jobs import run_jobs
from .processes import Job, Pool
from .reporting import report
from .store import RunStore

__all__ = ["Job", "Pool", "RunStore", "report", "run_jobs"]
