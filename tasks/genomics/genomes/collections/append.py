"""Addition of genomes to a collection: new arrays in a group of their own.

Stored arrays do not change. Only the metadata of the root group are replaced, at the end: until
then a reader sees the old collection. New arrays are written next to the store, to
`.STORE.gangsaw-added`, and moved into it when they are complete.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from zarr.storage import LocalStore

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.genomics.genomes.collections.collected import CollectionStream
from gangsaw.tasks.genomics.genomes.info import ATTRIBUTE, COLLECTION, GenomeInfo
from gangsaw.tasks.genomics.genomes.related.chained import ADDED, group_arrays, group_of, known_of
from gangsaw.tasks.genomics.genomes.samples import check_sample_names, sample_names
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.jobs.streams.stream_plan import Choose, StreamHead
from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.arrays.layout import CodecChoice
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.source import open_array, open_zarr
from gangsaw.tasks.store.state.lease import Lease, hold_lease

FIRST = "known"  # first array of a collection; its codec is reused for added genomes


@dataclass(frozen=True)
class Added:
    """Collection of a store to which genomes are added.

    Attributes
    ----------
    place, folder : location of the store, as a store prefix and as a folder
    info : description of the collection in its attributes
    arrays : arrays of the collection
    """

    place: Prefix
    folder: Path
    info: GenomeInfo
    arrays: Sequence[SourceArray]

    @property
    def work(self) -> Path:
        """Folder next to the store where new arrays are written until they are complete."""
        return self.folder.with_name(f".{self.folder.name}.gangsaw-added")

    def target(self, part: int) -> Path:
        """Return the folder of the genomes that were added as number `part`."""
        return self.folder / group_of(part)

    def known(self, n_parts: int) -> Text:
        """Return the reference bases of the first `n_parts` parts, as codes: (n,) uint8."""
        array = known_of(group_arrays(self.arrays, len(self.info.parts))[:n_parts])
        codes: Text = CODES[array.read((slice(0, array.shape[0]),))]
        return codes


@count_as_job("append", "store")
def append_genomes(
    paths: Sequence[str],
    store: str | Path,
    *,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Add the genomes of FASTA files to a collection, without rewriting its stored chunks.

    Parameters
    ----------
    paths : paths of the files
    store : path of a store that contains a collection
    resume : continue an interrupted run with the same files; report it if it was complete
    on_progress : called after each step of chunks

    Raises
    ------
    BadParams
        The store has no collection, or has a genome with one of the names already. A file is not
        FASTA. The store is not a local folder, or another job adds to it.
    JobFailed
        The job stopped, and the store is unchanged; `resume` continues it. Or another job changed
        the store in the meantime.
    """
    check_sample_names(paths)
    with hold_lease(open_prefix(store, writable=True)) as lease:
        return _appended(paths, _opened(str(store)), lease, resume, on_progress)


def _appended(
    paths: Sequence[str], added: Added, lease: Lease, resume: bool, on_progress: OnProgress | None
) -> Summary:
    """Add genomes to a collection, while the caller holds the lease (lock) of its store."""
    part = _part_of(added, paths, resume=resume)
    is_there = part < len(added.info.parts)
    stream = CollectionStream(tuple(paths), before=partial(added.known, part))
    run = partial(spool, stream, choose=_choose(added), on_progress=on_progress)
    if is_there:
        return replace(run(target=added.target(part), resume=True), store=str(added.place))
    if not dry_run.is_on():
        _take_up(added, part, lease, resume=resume)
    summary = run(target=added.work, resume=resume)
    _publish(added, part, lease, GenomeInfo.from_attrs(stream.outcome) or _stored_info(added.work))
    return replace(summary, store=str(added.place), notes=(*summary.notes, *stream.notes))


def _opened(store: str) -> Added:
    """Return the collection of a store; raise BadParams if genomes cannot be added to it."""
    source, place = open_zarr(store), open_prefix(store, writable=True)
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None or info.format != COLLECTION or not info.samples:
        raise BadParams(
            f"{store} holds no collection of genomes: gangsaw compress *.fa.gz makes one"
        )
    if type(place.store) is not LocalStore or place.folder is None or place.path:
        raise BadParams(f"{store}: genomes are added to stores that are folders; copy it to one")
    return Added(place, place.folder, info, source.arrays)


def _part_of(added: Added, paths: Sequence[str], *, resume: bool) -> int:
    """Return the number of the part to add; with `resume`, of an existing part with these genomes.

    Raises BadParams if the collection has a genome with one of the names.
    """
    names = sample_names(paths)
    for part, own in enumerate(added.info.samples_of_parts()):
        if resume and part and [sample.name for sample in own] == names:
            return part
        for sample in own:
            if sample.name in names:
                path = paths[names.index(sample.name)]
                raise BadParams(
                    f"{added.place} has a genome {sample.name} already: {path} is not added, "
                    "rename it if it is another one"
                )
    return len(added.info.parts)


def _choose(added: Added) -> Choose:
    """Return a function that selects codecs: that of the stored array for `known`, else "auto"."""
    known: CodecChoice = open_array(str(added.place), FIRST).serializer or "none"

    def choose(head: StreamHead) -> Mapping[str, CodecChoice]:
        return {array.name: known if array.name == FIRST else "auto" for array in head.arrays}

    return choose


def _take_up(added: Added, part: int, lease: Lease, *, resume: bool) -> None:
    """Keep the output of an interrupted run if `resume`, else remove it.

    A part that was moved into the store, but is not in its metadata, is moved out again.
    """
    _check_unchanged(added)  # else a part that another run added since would be moved out
    work, target = added.work, added.target(part)
    lease.confirm()
    if target.exists() and not work.exists():
        target.rename(work)
    shutil.rmtree(target, ignore_errors=True)
    if not resume:
        shutil.rmtree(work, ignore_errors=True)


def _stored_info(work: Path) -> GenomeInfo:
    """Return the description of the added genomes that an earlier run completed."""
    info = GenomeInfo.from_attrs(open_zarr(str(work)).attrs)
    assert info is not None, "the run before finished it"
    return info


def _publish(added: Added, part: int, lease: Lease, info: GenomeInfo) -> None:
    """Move the arrays of a new part into the store, and add them to its metadata."""
    try:
        _check_unchanged(added)
    except JobFailed:
        lease.confirm()
        shutil.rmtree(added.work)  # its pieces refer to reference bases that have changed
        raise
    lease.confirm()
    target, place = added.target(part), added.place
    group = json.loads(_read(place))
    target.parent.mkdir(exist_ok=True)
    added.work.rename(target)
    own = json.loads(_read(place / group_of(part)[:-1]))
    above = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    place.put(f"{ADDED}/{METADATA}", json.dumps(above, indent=2).encode())
    inline = own.pop("consolidated_metadata")["metadata"]
    nodes = {group_of(part) + name: node for name, node in inline.items()}
    nodes |= {ADDED: above, group_of(part)[:-1]: own}
    group["attributes"][ATTRIBUTE] = _merged(added.info, info).to_dict()
    group["consolidated_metadata"]["metadata"] |= nodes
    place.put(METADATA, json.dumps(group, indent=2).encode())
    place.flush([f"{ADDED}/{METADATA}", METADATA])


def _check_unchanged(added: Added) -> None:
    """Raise JobFailed if the description of the collection changed since it was opened."""
    if GenomeInfo.from_attrs(json.loads(_read(added.place))["attributes"]) != added.info:
        raise JobFailed(f"{added.place} changed meanwhile: nothing was added, run it again")


def _read(place: Prefix) -> bytes:
    data = place.get(METADATA)
    assert data is not None, "it was opened"
    return data.to_bytes()


def _merged(there: GenomeInfo, new: GenomeInfo) -> GenomeInfo:
    """Return the description of a collection after the genomes of `new` are added."""
    return replace(
        there,
        records=there.records + new.records,
        letters=dict(Counter(there.letters) + Counter(new.letters)),
        samples=(*there.samples, *new.samples),
        added=(*there.added, len(new.samples)),
    )
