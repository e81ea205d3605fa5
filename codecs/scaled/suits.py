"""What the codec answers of itself."""

from __future__ import annotations

from gangsaw.codecs.core.suits import Answers

ANSWERS = Answers()
