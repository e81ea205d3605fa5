"""What a job leaves: chunks, their journal, and the manifest of a finished store."""

from gangsaw.codecs.core.codec_table import settle_names

settle_names()  # workers, too, open stores without a look at the table
