"""Table of BLAST with its twelve standard columns (-outfmt 6)."""

from __future__ import annotations

from gangsaw.tasks.genomics.align.output.lines import LineFormat, LineSource, query_names


class Tabular(LineFormat):
    """Output format like BLAST's tables: positions from 1; reversed on the reverse strand."""

    suffixes = (".tsv", ".blast", ".b6", ".m8")
    has_evalues = True

    def lines(self, source: LineSource) -> bytes:
        """Return the lines of the hits; queries without a hit have no line."""
        names, sizes = query_names(source.queries), source.queries.sequences.lengths.tolist()
        out = []
        for row in source.report.rows.tolist():
            query, strand, record, begin, end, there, there_end, _, _, *rest = row
            _, _, _, _, equal, different, inserted, deleted, gaps, evalue, bits = rest
            size, first, last = sizes[query], there + 1, there_end
            if strand:
                begin, end, first, last = size - end, size - begin, last, first
            columns = equal + different + inserted + deleted
            out.append(
                f"{names[query]}\t{source.names[record]}\t{100 * equal / columns:.3f}\t{columns}\t"
                f"{different}\t{gaps}\t{begin + 1}\t{end}\t{first}\t{last}\t{evalue:.3g}\t"
                f"{bits:.1f}\n"
            )
        return "".join(out).encode()
