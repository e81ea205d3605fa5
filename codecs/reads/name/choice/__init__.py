"""How an encoder of names chooses, by costs in integers."""
