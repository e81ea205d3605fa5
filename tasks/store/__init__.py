"""Output stores of jobs: chunks, the journal of a running job, the manifest of a finished store."""

from gangsaw.codecs.core.codec_table import settle_names

settle_names()  # workers open stores, too, without a look-up in the codec table
