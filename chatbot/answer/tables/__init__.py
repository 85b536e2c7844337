"""Figures of tables, and ratios and changes worked out from them; reads no running text."""
