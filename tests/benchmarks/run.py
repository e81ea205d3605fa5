"""All benchmarks, or those named, as Markdown pages and JSON files.

python tests/benchmarks/run.py                       # all: about an hour
python tests/benchmarks/run.py ccsds123 startup      # some, printed
python tests/benchmarks/run.py --write               # all pages, each with its JSON file
python tests/benchmarks/run.py tcr_job --write       # these sections of their pages; others stay

Figures with other vectors (AVX-512, AVX2) than those of this machine stay as a column of their own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import page_texts as text
from pages import Page, Sections, tables
from program_memory import keep_memory, touch_memory

from gangsaw.tasks.bench.table import dump

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # benchmarks import `helpers` and `reference`, as tests do
PAGES = (
    Page(
        "RESULTS-SCALE.md",
        text.SCALE,
        {
            "scale_noop": "Chunks that do nothing",
            "scale_stores": "Tiny chunks, in one process and on workers",
            "scale_arrays": "Many variables, in one process",
            "scale_workers": "Workers that sleep, and the model of 10^8 chunks",
        },
    ),
    Page(
        "RESULTS-DNA-PAPER.md",
        text.DNA_PAPER,
        {
            "dna_paper": "Compression, times and scores",
            "dna_significance": "Statistics of scores",
        },
    ),
    Page(
        "RESULTS.md",
        text.CODECS,
        {
            "ccsds123": "CCSDS-123 on one core",
            "peers": "The codec beside its peers, one thread, same run",
            "job": "Two cores and the whole job",
            "blocks": "What blocks and their index cost",
            "startup": "Start-up",
            "scheduling": "Scheduling of large jobs",
            "defaults": "How the default parameters were chosen",
        },
    ),
    Page("RESULTS-FIRST-RUN.md", text.FIRST_RUN, {"first_run": "First commands"}),
    Page("RESULTS-JOBS.md", text.JOBS, {"job_sizes": "Jobs as shares of the codec's speed"}),
    Page(
        "RESULTS-FAR.md",
        text.FAR,
        {"far": "64 chunks on S3, each request delayed"},
    ),
    Page(
        "RESULTS-TCR.md",
        text.TCR,
        {
            "tcr": "Path counting on one core",
            "tcr_job": "Whole repertoires on two workers",
            "tcr_large": "Forty million rows",
        },
    ),
    Page("RESULTS-TCR-LIMITS.md", text.TCR_LIMITS, {"tcr_limits": "One core"}),
    Page("RESULTS-TCR-READS.md", text.TCR_READS, {"tcr_reads": "One core"}),
    Page(
        "RESULTS-TCR-STATISTICS.md",
        text.TCR_STATISTICS,
        {"tcr_statistics": "What the human and mouse sets say"},
    ),
    Page(
        "RESULTS-READS.md",
        text.READS,
        {
            "reads": "Bits and speeds of one core",
            "reads_order": "Other orders, bins, two threads, one read",
            "reads_job": "The whole job on two threads and two workers",
            "reads_whole": "Whole stores in every order",
        },
    ),
    Page(
        "RESULTS-DNA.md",
        text.DNA,
        {
            "dna": "Bits and speeds of one core",
            "dna_access": "Two threads, one read, estimates for a GPU",
        },
    ),
    Page(
        "RESULTS-COLLECTIONS.md",
        text.COLLECTIONS,
        {"collections": "Bytes and speeds of one core beside zstd and xz"},
    ),
    Page(
        "RESULTS-BWT.md",
        text.BWT,
        {
            "bwt": "Bytes and speeds of one core beside the peers",
            "bwt_stages": "Stages of the codec on one core",
            "bwt_threads": "One file, threads 1 to n",
            "index": "Indexes of text and of DNA on one core",
        },
    ),
    Page(
        "RESULTS-STRINGS.md",
        text.STRINGS,
        {"strings": "Bytes and speeds of one core beside what Zarr has"},
    ),
    Page(
        "RESULTS-SCALED.md",
        text.SCALED,
        {"scaled": "Ratios and speeds of one core beside the peers"},
    ),
    Page(
        "RESULTS-ALIGN.md",
        text.ALIGN,
        {
            "align": "Exact affine alignment on one core",
            "align_edit": "Edit distances, one core",
            "align_search": "Simulated reads in E. coli, one core",
            "align_long": "Simulated long reads, one thread",
        },
    ),
    Page(
        "RESULTS-DECIMALS.md",
        text.DECIMALS,
        {"decimals": "Ratios and speeds of one core beside the peers"},
    ),
    Page(
        "RESULTS-VISIBILITY.md",
        text.VISIBILITY,
        {
            "visibility": "Ratio beside the peers",
            "visibility_speed": "Speed: one core, two threads, parts of a chunk",
            "visibility_paper": "The founding paper's questions",
            "visibility_packing": "Prefix sums against independent blocks",
        },
        "visibility_plots",
    ),
)
SECTIONS = {name: title for page in PAGES for name, title in page.sections.items()}


def main(own_process: bool = False) -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *SECTIONS], metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--write", action="store_true", help="write the pages and JSON files")
    options = parser.parse_args()
    if own_process:
        keep_memory()
        touch_memory()
    names = options.names or list(SECTIONS)
    if options.write:
        for page in PAGES:
            if chosen := [name for name in page.sections if name in names]:
                page.write(HERE, chosen)
        return
    sections: Sections = {}
    for page in PAGES:
        sections |= page.measured(names)
    sys.stdout.write(dump(sections) if options.json else tables(sections, {}))


if __name__ == "__main__":
    main(own_process=True)
