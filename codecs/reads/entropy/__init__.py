"""Range asymmetric numeral systems for all kinds: static tables, one state per lane."""
