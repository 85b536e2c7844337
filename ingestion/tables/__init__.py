"""From words and lines with places to tables: rows, columns, heads, captions, units; opens no PDF."""
