"""Qualities on a GPU: what its windows look into, as `decode.cu` takes it."""

from __future__ import annotations

from gangsaw.codecs.reads.gpu_text import LookedInto, TextDecoder
from gangsaw.codecs.reads.payload import Payload
from gangsaw.codecs.reads.quality.coding import model_of


def _looked_into(payload: Payload, pairs: bool) -> LookedInto:
    model = model_of(payload)
    strides = (int(one) for one in (model.strides.part, model.strides.before, model.strides.shift))
    arrays = *model.syntax, model.table_of, model.lows, model.letters
    return LookedInto((*strides, len(model.row)), arrays)


DECODER = TextDecoder(__package__, _looked_into)
