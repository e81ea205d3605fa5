"""PAF as minimap2 writes it: a line of twelve columns and tags for each hit."""

from __future__ import annotations

from math import isnan

from gangsaw.tasks.genomics.align.output.lines import (
    LineFormat,
    LineSource,
    format_cigars,
    query_names,
)
from gangsaw.tasks.genomics.align.search.select import PRIMARY


class Paf(LineFormat):
    """Output format PAF, with the tags tp, cm, NM, AS, de, ev (e-value, if available) and cg."""

    suffixes = (".paf",)

    def lines(self, source: LineSource) -> bytes:
        """Return the lines of the hits; queries without a hit have no line."""
        names, sizes = query_names(source.queries), source.queries.sequences.lengths.tolist()
        records, lengths = source.names, source.lengths.tolist()
        out = []
        for row, cigar in zip(source.report.rows.tolist(), format_cigars(source), strict=True):
            query, strand, record, begin, end, there, there_end, score, anchors, *rest = row
            _, _, kind, quality, equal, different, inserted, deleted, gaps, evalue, _ = rest
            size = sizes[query]
            if strand:
                begin, end = size - end, size - begin
            columns = equal + different + inserted + deleted
            steps = equal + different + gaps
            expected = "" if isnan(evalue) else f"ev:f:{evalue:.3g}\t"
            out.append(
                f"{names[query]}\t{size}\t{begin}\t{end}\t{'-' if strand else '+'}\t"
                f"{records[record]}\t{lengths[record]}\t{there}\t{there_end}\t"
                f"{equal}\t{columns}\t{quality}\ttp:A:{'P' if kind == PRIMARY else 'S'}\t"
                f"cm:i:{anchors}\tNM:i:{columns - equal}\tAS:i:{score}\t"
                f"de:f:{(steps - equal) / steps:.4f}\t{expected}cg:Z:{cigar}\n"
            )
        return "".join(out).encode()
