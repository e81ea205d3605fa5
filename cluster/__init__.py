"""Ways to get a Dask client, by `launchers`; `connect` selects one."""

from gangsaw.cluster.config import Certificates
from gangsaw.cluster.kinds import connect

__all__ = ["Certificates", "connect"]
