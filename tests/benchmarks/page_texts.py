"""What stands above the tables of each page of results."""

from __future__ import annotations

CODECS = """# Results

Written by `python tests/benchmarks/run.py --write`. Speeds of one core are CPU time, medians of
several rounds; the others are wall clock. Samples, not bytes: a 16-bit Msample is 2 MB. The
synthetic scenes are those of `gangsaw demo`; rows on real scenes need the shared data folder and
are absent without it.

The machine is shared: where the peers' rows are low, so are ours. Its two cores may be two threads
of one: the row of vectors that are added in the first cache says what two threads can gain here.
RESULTS-AVX2.md has an earlier run, on a processor without AVX-512.
"""
JOBS = """# Results of whole jobs in one process

Written by `python tests/benchmarks/run.py job_sizes --write`. The job goes from an ENVI file on a
local disk to a store and back, without a client, on two threads. Shares are the codec's time for
the same chunks over the job's: the codec encodes and decodes chunks that lie in memory, all its
blocks on two threads, in the same rounds. Medians; the job holds its start, which is told apart,
the files, their checksums, the journal and what waits for the disk. `verify` and `decompress` are
compared with decoding.

The machine is shared, and the wall clock holds what others take of two cores; the shares by
processor time hold only what the job itself spends.
"""
FIRST_RUN = """# Results of first runs

Written by `python tests/benchmarks/run.py first_run --write`, after `gangsaw kernels build`. Each
command runs on small data with an empty cache of compiled kernels, then again: from source, where
every kernel is compiled, and with the packs of compiled kernels that a wheel may carry. Figures are
wall-clock seconds, for two idle cores; remarks have the second call of the same run. The last row
of a command compares processor time of all its processes, which other programs hardly change.
"""
TCR = """# Results of counting T-cell-receptor recombination paths

Written by `python tests/benchmarks/run.py tcr --write`. Speeds of one core are CPU time, medians of
several rounds; the others are wall clock. Every row counts all nu = 0..10 and pi = 0..4 (DP-1: all
totals 0..10) and makes all calls. Mouse-like references are made from the germline of OLGA's model
of mouse TRB, with erosion, palindromes and n-nucleotides at random; human ones are of blood, from
the shared data folder, and absent without it. The machine is shared.
"""
TCR_LIMITS = """# Results: recombination paths without limits of palindromes and n-nucleotides

Written by `python tests/benchmarks/run.py tcr_limits --write`. CPU time of one thread. Mouse-like
references, 2 D genes, as in RESULTS-TCR.md. "All" is beside the usual sweep: 12 nu by 6 pi.
"""
TCR_READS = """# Results: from reads to T-cell receptors

Written by `python tests/benchmarks/run.py tcr_reads --write`. Reads are simulated by olga's model
of human TRB, from both ends of fragments of 250 letters. One letter in a hundred is wrong, nearly
all of them where the quality is 10. CPU time of one thread; the machine is shared.

A row is right where its CDR3 is one that was simulated. Reads of one CDR3 vote for its letters by
their qualities; a letter needs 20 more than the next best one. So a CDR3 of one read is there only
where all of its letters are sure, and two doubtful letters that agree are as good as a sure one.
MiXCR builds clonotypes of reads without a doubtful letter in the CDR3, and counts other reads for a
clonotype that they are like (https://docs.milaboratories.com/mixcr/reference/mixcr-assemble/).
"""

TCR_STATISTICS = """# Results: what recombination paths say of real repertoires

Written by `python tests/benchmarks/run.py tcr_statistics --write`, from the shared data folder.
These are figures of data, the same on every machine; RESULTS-TCR.md has the speeds.

**The sets.** "human TRB": 21 donors (aging data of VDJtools, each sample drawn down to 10,000
reads), one of them with a second, whole sample ("copies of a sample"): estimates hang on that
donor, as the rows on it say. "human TRB at equal depth": as many reads of each donor, drawn at
random without replacement; this is the set to read. "mouse TRB": 78 subjects with T cells sorted by
the epitope that they bind (Dash 2017), few of each: what they share was selected. The thesis
compared two mice of 101,822 nucleotypes together (1,228 shared), five of 3,418,373 (227,759
shared), and 100 humans of 43 million. The germline is the shared folder's table, which has genes
that olga's models lack, as a row says.

**What is counted.** A nucleotype is a CDR3 with its V and J; it is shared where two individuals or
more have it. "all" are the paths with every D gene that pairs with the J, of its alleles the one
with the most, and those without D. N1, N2 and NDN lie between V and D, D and J, V and J; of the D
genes the one with the longest match counts, and of equals the one that leaves the fewest
nucleotides beside it.

**How it is estimated.** AUC is the probability that a shared nucleotype has more paths than an
unshared one; 0.5 is chance, ties count half. Within equal length, or equal V, J and length, only
such pairs are compared. The odds ratio is of a logistic regression of shared or not on log10 total
paths, an indicator for no path, length in codons and its square, log10 usage of V and of J, and
log10 depth (nucleotypes that an individual has, averaged over those who have the nucleotype).
Counts that contain each other are never in one model; VIF is by how much the other terms inflate a
variance. Errors are by the jackknife that leaves out one individual at a time, since nucleotypes of
one individual are not independent, and a bootstrap would draw an individual twice, who would share
all with itself; intervals and P are by the t distribution with individuals - 1 degrees of freedom.
Below 10 shared nucleotypes per parameter a note says so; below 5 nothing is fitted. q values
(Benjamini and Hochberg) are over the areas or the calls of a set. The LASSO chooses among terms of
which none contains another, by BIC with the number of events. Pgen is olga's probability of
generation, of a seeded sample of shared and other nucleotypes.

**The thesis.** Its claims, and where this page answers each; rows whose remark begins with "thesis"
say "reproduced" or "contradicted" where the 95 % interval excludes no effect, else "not shown".
- Path count and frequency hardly go together: the rows "Spearman of all ... with frequency" and
  "with copies"; a rho below 0.1 either way counts as reproduced.
- Path counts did not converge in the regression on sharing: "steps of the regression".
- Path counts have no effect on sharing: "path counts rise with sharing", the medians by number of
  individuals, the tenths, and the odds of sharing by log10 paths.
- N2 is shorter in shared nucleotypes: "n2 of shared less others".
- The C of N2 falls and its A and T rise with sharing: "share of C (A, T) in n2 of shared less
  others". The mice at hand are few cells, so that "not shown" there says little.
- How many nucleotypes are shared, how long CDR3s are: "nucleotypes that are shared", "mean length
  of CDR3". These depend on how deep samples are.
- All calls in one adaptive LASSO: the rows "LASSO by BIC of events", with the odds before it.
"""
VISIBILITY = """# Results of the lossless visibility codec

Written by `python tests/benchmarks/run.py visibility visibility_speed visibility_paper
visibility_packing --write`. Ratios are raw bytes over stored bytes, with header and index; every
row's bits were compared with what went in. Speeds of one core are CPU time, medians of several
rounds, in MB/s (10^6 bytes) or GB/s of raw data; the others are wall clock. In each round every
codec codes a cube for 50 ms, again and again, for a chunk is one of many. The machine is shared.

The real files are ten arrays of HERA, MWA, VLA, CARMA, ATCA and LOFAR in the shared data folder;
rows on them are absent without it. The synthetic cube is that of
`gangsaw.tasks.radio.synthetic`: the 2016 baselines of 64 antennas, without the antennas'
own powers, 4 polarisations, 64 channels of 209 kHz, 16 integrations of 8 s, 20 sources of 0.8 Jy
and less, noise of 0.23 Jy in re and in im, 66 MB. Its correlator adds products of 8-bit samples,
so that sums stay below 2^24 and each float is an integer times one scale, rounded; "full mantissas"
is the same sky from 12-bit samples, whose sums exceed float32. The recipe leaves the flux, the unit
and the depth of samples open. With these, peers come within 1 % of what was published for another
cube of the recipe (Sisco 1.208, pcodec 1.191, blosc2 shuffle4+zstd1 1.183, fpzip 1.107, gzip 1.076,
bzip2 1.072), but for blosc2 bitshuffle8+lz4 (1.073): where values straddle a power of two that
turns all bits of the exponent, bit planes gain less.

Peers: pcodec, blosc2, fpzip, casacore's Sisco, zstd, gzip, bzip2. The best peer of a file is the
one with the fewest bytes of all settings below, among them those that won when some sixty were
tried on each file. Sisco takes complex64 alone, and its times include those of its table. Not
measured here, for there are no wheels, but published elsewhere: ndzip 1.152 on 20 real files and
1.101 on a synthetic cube, SPspeed 1.104 and 1.110; on GPUs, SPspeed 518 and 500 GB/s (RTX 4090),
DietGPU's float codec 250 to 600 GB/s (A100), GPZ 616 and 1091 GB/s (H100).

What makes the difference on single files: of the values of hera_2457698_raw, 40 % are multiples of
2^-20 and 53 % are so but for 1 to 255 units in the last place, as if turned and turned back, and
`dense` has symbols for both. hera_2458106_ant012 as complex128 is coded as the float32s that it
holds. `fast` does neither. Where rows fall short: of two threads that encode `fast`, one copies to
their place what the other had ready before its turn; one thread alone encodes in place. `dense`
spends a tenth of its time in Python, one thread at a time. What a second core gives at all is in
the table, too, of additions in the first cache and of copies in memory, which two threads of `fast`
come near; both varied from 1.2 to 1.9 within hours, and the rows of two threads with them. Tables
that tell a speed twice measured it twice, minutes apart.
"""
DECIMALS = """# Results of floats with few digits, bits or values

Written by `python tests/benchmarks/run.py decimals --write`. A million seeded values each, as
instruments and programs write them (`decimals_data.py`). Ratios are raw bytes over stored bytes;
what came out was compared bit by bit. Speeds of one core are CPU time in MB/s of raw data. The
machine is shared. `asked` is pcodec's ratio, but on controls: noise, which nothing shortens, and
values that were packed with an offset and unpacked in float32, which are no decimals bit by bit.
Values of ten irregular numbers without order have no structure that a model could find: there
tables of symbols in each block make the difference.
"""
READS = """# Results of the codec of sequencing reads

Written by `python tests/benchmarks/run.py reads reads_order reads_job reads_whole --write`, from
the sets of the shared data folder. Records are in the order of their files but where another is
named, in one chunk for each array, and two files lie one behind the other; what came out was
compared with what went in. Stored bytes are those of whole frames, with header, index and lanes'
checksums. Speeds are CPU time of one core, medians of several rounds: Mbases/s are 10^6 letters,
MB/s 10^6 bytes of text.
What is asked of bits are figures of the specification's prototype, and of SPRING, PgRC2, ORCOM and
fqzcomp as they were measured there on the same files: neither Debian nor PyPI has these programs.
zstd,
pigz and samtools ran here. CRAM holds unaligned records, with their names; of pairs one file after
the other. Binning alone is signatures, order by bin and moving of lines that lie in memory. The
machine is shared.

The whole job is in wall clock. What its stages allow is the time of encoding the chunks on two
threads, as it is measured alone in the same rounds, and half the sum of the other stages: two
threads or workers that never wait would need that. Files are the sets' own, several times one
behind the other, so that arrays have several chunks: where sequences are one chunk, as those of one
such file alone, one thread encodes them while the other ends early.

Whole stores have the names, too, and mates of two files as pairs. An order of n records (of pairs,
n pairs) is log2(n!) bits, "orders" of the rows: as much as forgetting it can save of sequences, and
as names take more that were in order and are no longer. Coded as a set, and their order beside it,
names of a sorted chunk would take what they take in their order, and these bits, less those of
orders among equal reads and among reads without a place: 169.6 kB of portiera, 25.2 of sars2, 33.9
of shigella's pairs, 8.1 of human's, 74.4 of gaii, 62.7 of hiv1. With the sequences of the sorted
rows that is at best 0.3 % of a store less than `smallest` (sars2's first mates; hiv1 0.2, portiera
0.03), and more than it on all others, so names have no such form. Records by their place divided by
2^3 to 2^15, and by the input within, took more than one of the ends on all six sets. So `smallest`
tries the ends, but not bins: 0.02 % of the long reads. Sets of several chunks were not measured:
there reads of one place come into one chunk, for about log2(number of chunks) bits a name.
"""
DNA = """# Results of the codec of nucleotides

Written by `python tests/benchmarks/run.py dna dna_access --write`, from the assemblies
of the shared data folder; where it is absent, random bases with a repeat stand for them. Bits are
those of whole frames over letters that are A, C, G or T; what came out was compared with what went
in. Speeds are CPU time of one core, medians of several rounds; Mbases/s are 10^6 letters. Genomes
below a megabase lie in caches, and much of their time is that of one call. The made chunks of 32
MiB do not fit a core's caches: their speeds are told as often memcpy's, which copies the text to
memory that is in use already. Half of the masked one is lower case in runs of 300 on average, with
N in runs of up to 20,000.

Estimates are named so. The machine is shared: where memcpy is slow, so are we. Neither Debian nor
PyPI has bsc, NAF, GeCo2 or GeCo3 in a form that is alive: they are not beside it.
"""
COLLECTIONS = """# Results: collections of related genomes

Written by `python tests/benchmarks/run.py collections --write`, from E. coli K12 of the shared data
folder and strains that are made of it by a seed, each by itself: substitutions at the rate of the
row, insertions and deletions at a tenth of it, and parts that are turned, moved, lost, or new and
random. Bytes are those of all chunks of the store, names among them; peers get all files as one
text, with windows that hold all of it. What came out was compared with what went in. Speeds are CPU
time of one core, the better of two runs; the machine is shared.

Known letters are `dense` unless `--codec dna --param mode=pack` says that they are packed. Letters
that are dense are decoded once for all genomes, at the speed of that codec (RESULTS-DNA.md): where
few genomes share them that is most of the time. AGC is not on PyPI and not in Debian.
"""
DNA_PAPER = """# Results: the experiments of the paper on aligning compressed DNA

Written by `python tests/benchmarks/run.py dna_paper dna_significance --write`. The paper is
Satyanvesh, Kaliuday and Baruah, "High Performance Implementation for Aligning Compressed DNA
Sequences" (2015). Speeds are CPU time of one core; the machine is shared.

The paper says 1.77 bits a base. Its format packs four bases a byte and puts a code byte before each
8 data bytes: 2.25 bits a base where no byte follows an equal one. Only such repeats are shorter,
and 4-mers rarely repeat in place. The rows have what the runs alone take; the paper's table lies
below that, and nothing is tuned to it. Blocks that runs would make longer are stored packed, so
frames stay near 2 bits. Sequences are those of the shared data folder, not the paper's; rows are
absent without it. The sizes of the alignments are the paper's, taken as packed bytes, of random
bases. How many seeds its ungapped time is for is not known here: both a seed for each byte and one
hit of all bytes are measured, and neither is its measurement. Its processors were others, so times
side by side say little of the methods.

The gapped alignment has gaps of whole fours in one sequence, so its score is at most that of
Smith-Waterman with the same values; asked is 3/4 of it. Reading A counts equal bases and B takes a
base off for each other one; Smith-Waterman has +1/0 and +1/-1 there. A does not tell relatives from
others: see the unrelated pair. Of mutants 30 % of the changes put a base in or leave one out.

The statistics are for equally frequent bases. Those with gaps were fitted to the best scores of
100,000 random pairs of 1,000 bases, seeds fixed, with the space shortened by the length of an
alignment; errors are statistical alone. BLAST's table (blast_stat.c) is for even scores, and odd
ones are rounded down before it is used; the fit takes all scores as they are.
"""
BWT = """# Results of the Burrows-Wheeler codec

Written by `python tests/benchmarks/run.py bwt bwt_stages bwt_threads index --write`, from the six
files of text, logs, XML, an image and DNA in the shared data folder, and the index from E. coli and
strains made of it at random; rows are absent without it. Bytes are those
of whole frames, with header and index; what came out was compared with what went in. Speeds are CPU
time of one core in MB/s (10^6 bytes) of raw data, medians of several rounds; those of programs
(bzip2, lbzip2, bzip3, zstd, xz) hold their start and the pipes. Small files are told by their
bytes; speeds are of all files together. The machine is shared.

The experiment of the article (one file, threads 1 to n, time to encode and to decode) is in wall
clock, here with a file of all six, one behind the other and twice. The article has 3.355 s for one
small file on 8 threads, of another machine; its files are not told.
"""
STRINGS = """# Results of the codec of strings

Written by `python tests/benchmarks/run.py strings --write`: columns of strings as the serializer
`vlen-utf8` of Zarr writes them, a length of four bytes before each. Columns are the lines of four
files in the shared data folder, and some that are made at random; the remark is raw bytes, lengths
included, over stored ones. "bwt dense over all bytes" is gangsaw.bwt with the lengths between the
strings, "lengths apart" the strings back to back and a second frame of lengths: gangsaw.strings
puts a byte behind each string instead, where the strings have several lengths. What came out was
compared with what went in. Speeds are CPU time of one core in MB/s (10^6 bytes) of raw data, of
all columns together. The machine is shared.
"""
SCALED = """# Results of the codec of scaled integers

Written by `python tests/benchmarks/run.py scaled --write`, from the shared data folder: cubes of
integers that are scaled as their producers do, and some that only nearly fit. gangsaw.scaled gets
the scale that the cube itself shows. "ccsds123 of the integers" is CCSDS-123 on them; its ratios
and speeds are of the bytes of the floats, too. Speeds are CPU time of one core in MB/s (10^6
bytes). What came out was compared with what went in, bit by bit. The machine is shared.
"""
ALIGN = """# Results of alignment

Written by `python tests/benchmarks/run.py align align_edit align_search align_long --write`.
GCUPS are 10^9 cells of the matrix of query and target a second, each pair counted once; speeds of
one core are CPU time, medians of several rounds, with what lays the pairs out. Sequences are drawn
at random.
parasail, edlib and minimap2 ran in the same rounds: of parasail's functions those that tell score
and end. Where scores exceed 8 bits, pairs are done once more with 16, and the time holds both.

The reads of the search have 150 bases of E. coli with 1 % substitutions and 0.1 % gaps. minimap2
reads and writes files, and ours is the kernel alone; neither makes its index in that time. E. coli
has repeats longer than a read, so some reads have several places as good as the true one, which
nothing in the read tells from it. The machine is shared.

The long reads have 10 to 100 kb, with 0.2 % errors (hifi) or 5 % (ont), a third each of
substitutions, insertions and deletions. Their samples differ from the references by tandem repeats
with other numbers of copies and whole new ones, insertions and deletions of 50 to 5,000 bases and
substitutions of 0.1 %; the references have runs of 10 to 5,000 N where the samples have bases
(`tests/benchmarks/long_reads.py`, seeded). Both programs write PAF with CIGARs, `gangsaw align
--preset long` and `minimap2 -cx map-hifi` or `map-ont`, of the same files in the same run. Bases
count that the reference has and that do not face N. Ends are those of the longest line of a read;
it is misplaced where it shares less than half of the true stretch. The time is that of the whole
command on one thread, less that of the command without reads. `GANGSAW_LONG_READS=200` makes the
sets smaller than their 2,000 reads.
"""
SCALE = """# Results: jobs of many chunks, and many workers

Written by `python tests/benchmarks/run.py scale_noop scale_stores scale_arrays scale_workers
--write`; each of the four takes minutes, and can be run alone. The machine is shared by many, so
what counts is processor time; the clock stands in the remarks.

A no-op chunk costs what the engine takes for a chunk: its place in a task, a row of the journal
entry, a row of the manifest. Client, scheduler and workers are processes of their own.

What to set for 10^8 chunks. One array has at most 2^24 = 16,777,216 chunks (512 TiB in chunks of
32 MiB); more are refused before anything is read, since damaged metadata can claim any number. So
10^8 chunks are at least six arrays, which one job may write, or larger chunks. Nothing else has to
be set: a task lasts the number of threads / 300 in seconds (at least 0.25, and rounded up to whole
batches), so that a scheduler has 300 tasks a second to serve whatever the number of workers.
The client holds 13 MB for each part of the manifest (2^20 chunks) that is being filled, and the
journal the entries of these alone. So

| threads | a task | give chunks of | why |
|---|---|---|---|
| up to 75 | 0.25 s | any size | two tasks a thread are in flight |
| 1,000 | 3.3 s | at most some seconds | a task is at least one chunk, and all are to end together |
| 4,000 | 13 s | at most 10 s | as before; a lost worker redoes a task a thread |
| 10,000 | 33 s | at most 30 s | as before; better four clusters with a part of the arrays each |

Chunks of less than 10 ms are better made larger, or put in shards: each is an object of the store.
"""
FAR = """# Results of jobs on stores far away

Written by `python tests/benchmarks/run.py far --write`: an S3 server on this machine (moto) behind
a proxy that delays each reply. Seconds are wall clock, medians of rounds in which jobs take turns;
a delay is told as often the seconds without it, of the same round. The scene is synthetic, codec
and chunks are of the job's own choice but for their shape, and the local side is a folder. What a
delay adds, divided by it, is as many requests as if one waited for the other; it does not grow with
the chunks. The server, the proxy and the job share the machine's cores.
"""
