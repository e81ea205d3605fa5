"""Genomes added to a collection: arrays of their own beside those that are there.

What is stored already is not touched but for the metadata of the group, which is replaced at the
end: until then a reader sees the collection as it was. What is added is written beside the store,
`.STORE.gangsaw-added`, and moved into it when it is whole.
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
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.engine.tally import job_of
from gangsaw.tasks.genomes.chained import ADDED, arrays_of, group_of, known_of
from gangsaw.tasks.genomes.collected import CollectionStream
from gangsaw.tasks.genomes.collection.samples import check_names, sample_names
from gangsaw.tasks.genomes.info import ATTRIBUTE, COLLECTION, GenomeInfo
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.streams.spool import Choose, StreamHead, spool
from gangsaw.tasks.sequences.files.text import Text
from gangsaw.tasks.source import SourceArray
from gangsaw.tasks.store.chunks import METADATA
from gangsaw.tasks.store.layout import CodecChoice
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.source import open_array, open_zarr
from gangsaw.tasks.store.state.lease import refuse_leased

FIRST = "known"  # the array that a job of a collection has its lease below


@dataclass(frozen=True)
class Added:
    """A collection, and where genomes are added to it.

    Attributes
    ----------
    place, folder : of the store
    info : what it says of itself
    arrays : that it has
    """

    place: Place
    folder: Path
    info: GenomeInfo
    arrays: Sequence[SourceArray]

    @property
    def work(self) -> Path:
        """Where what is added is written, until it is whole."""
        return self.folder.with_name(f".{self.folder.name}.gangsaw-added")

    def target(self, part: int) -> Path:
        """Return where what was added at a time is."""
        return self.folder / group_of(part)

    def known(self, n_parts: int) -> Text:
        """Return the letters that are known after so many parts, codes."""
        array = known_of(arrays_of(self.arrays, len(self.info.parts))[:n_parts])
        codes: Text = CODES[array.read((slice(0, array.shape[0]),))]
        return codes


@job_of("append", "store")
def append_genomes(
    paths: Sequence[str],
    store: str | Path,
    *,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Add the genomes of FASTA files to a collection; no stored chunk of it is written anew.

    Parameters
    ----------
    paths : of the files
    store : path of a store that holds a collection
    resume : finish what an earlier run with the same files began; where that is finished, say so
    on_progress : called after each step of chunks

    Raises
    ------
    BadParams
        It holds no collection, or has a genome of such a name already; a file is no FASTA; the
        store is none on a file system, or another job adds to it.
    JobFailed
        The job stopped, the store is as it was, and `resume` goes on; or another job changed the
        store meanwhile.
    """
    check_names(paths)
    added = _opened(str(store))
    part = _part_of(added, paths, resume=resume)
    is_there = part < len(added.info.parts)
    stream = CollectionStream(tuple(paths), before=partial(added.known, part))
    run = partial(spool, stream, choose=_choose(added), on_progress=on_progress)
    if is_there:
        return replace(run(target=added.target(part), resume=True), store=str(added.place))
    if not rehearsal.is_on():
        _take_up(added, part, resume=resume)
    summary = run(target=added.work, resume=resume)
    _publish(added, part, GenomeInfo.from_attrs(stream.outcome) or _stored_info(added.work))
    return replace(summary, store=str(added.place), notes=(*summary.notes, *stream.notes))


def _opened(store: str) -> Added:
    """Return the collection of a store; BadParams where there is none that can be added to."""
    source, place = open_zarr(store), open_place(store, writable=True)
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None or info.format != COLLECTION or not info.samples:
        raise BadParams(
            f"{store} holds no collection of genomes: gangsaw compress *.fa.gz makes one"
        )
    if type(place.store) is not LocalStore or place.folder is None or place.path:
        raise BadParams(f"{store}: genomes are added to stores that are folders; copy it to one")
    return Added(place, place.folder, info, source.arrays)


def _part_of(added: Added, paths: Sequence[str], *, resume: bool) -> int:
    """Return the number of what is added; BadParams where the collection has one of the names."""
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
    """Return what chooses codecs: for known letters that of the letters that are there."""
    known: CodecChoice = open_array(str(added.place), FIRST).serializer or "none"

    def choose(head: StreamHead) -> Mapping[str, CodecChoice]:
        return {array.name: known if array.name == FIRST else "auto" for array in head.arrays}

    return choose


def _take_up(added: Added, part: int, *, resume: bool) -> None:
    """Leave of what an earlier run began what this one goes on with.

    What was moved into the store, and is not in its metadata, is taken out again.
    """
    _check_unchanged(added)  # or what another run added since it was opened would be taken out
    work, target = added.work, added.target(part)
    if work.exists():
        refuse_leased(Place(LocalStore(work)), FIRST)
    if target.exists() and not work.exists():
        target.rename(work)
    shutil.rmtree(target, ignore_errors=True)
    if not resume:
        shutil.rmtree(work, ignore_errors=True)


def _stored_info(work: Path) -> GenomeInfo:
    """Return what a part says of itself that an earlier run finished."""
    info = GenomeInfo.from_attrs(open_zarr(str(work)).attrs)
    assert info is not None, "the run before finished it"
    return info


def _publish(added: Added, part: int, info: GenomeInfo) -> None:
    """Move what was written into the store, and let its metadata say that it is there."""
    try:
        _check_unchanged(added)
    except JobFailed:
        shutil.rmtree(added.work)  # its pieces lead to other letters now
        raise
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
    """Raise JobFailed where a collection says no longer what it did when it was opened."""
    if GenomeInfo.from_attrs(json.loads(_read(added.place))["attributes"]) != added.info:
        raise JobFailed(f"{added.place} changed meanwhile: nothing was added, run it again")


def _read(place: Place) -> bytes:
    data = place.get(METADATA)
    assert data is not None, "it was opened"
    return data.to_bytes()


def _merged(there: GenomeInfo, new: GenomeInfo) -> GenomeInfo:
    """Return what a collection says of itself with genomes that were added."""
    return replace(
        there,
        records=there.records + new.records,
        letters=dict(Counter(there.letters) + Counter(new.letters)),
        samples=(*there.samples, *new.samples),
        added=(*there.added, len(new.samples)),
    )
