"""The running application behind every door: the open store, its questions, additions and comparisons."""
