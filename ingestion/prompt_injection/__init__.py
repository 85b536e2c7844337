"""Finds text that gives orders to a machine, however it is hidden."""
