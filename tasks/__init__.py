"""Jobs: chunk functions mapped over every chunk of a store, with a journal."""
