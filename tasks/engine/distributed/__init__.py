"""Tasks in flight: who may do them, how they are sent, which are late."""
