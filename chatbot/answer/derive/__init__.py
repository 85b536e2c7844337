"""Sums of figures that stand in sentences; reads no tables."""
