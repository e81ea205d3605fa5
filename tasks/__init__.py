"""Jobs: functions mapped over the chunks of a store, with a journal."""
