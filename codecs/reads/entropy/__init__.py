"""Range asymmetric numeral systems as all kinds use them: static tables, one state a lane."""
