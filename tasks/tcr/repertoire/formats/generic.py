"""Format of a table whose columns the user names."""

from __future__ import annotations

from collections.abc import Mapping

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.repertoire.formats.format import NEEDED, ROLES, RepertoireFormat


def generic(columns: Mapping[str, str]) -> RepertoireFormat:
    """Return the format for role -> column, such as junction=nt, v=gene_v, j=gene_j.

    Raises
    ------
    BadParams : a role is none of ROLES, or a required one is missing
    """
    if wrong := sorted(set(columns) - set(ROLES)):
        raise BadParams(f"columns hold {', '.join(ROLES)}; not {', '.join(wrong)}")
    for alternatives in NEEDED:
        if not any(role in columns for role in alternatives):
            raise BadParams(f"name the column that holds {' or '.join(alternatives)}")
    return RepertoireFormat(
        name="table with columns as given",
        signs=((),),
        columns={role: (column.lower(),) for role, column in columns.items()},
        needed=(*NEEDED, *((role,) for role in columns)),
    )
