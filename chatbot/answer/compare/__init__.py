"""The entry of a comparison's table, read from a checked answer; asks and finds nothing."""
