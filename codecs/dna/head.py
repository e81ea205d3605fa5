"""Head of a payload: its form, and the bytes of exceptions and of cases. SPEC.md, Block."""

from __future__ import annotations

import struct

HEAD = struct.Struct("<III")
