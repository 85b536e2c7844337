"""News as signals: kept in Postgres with their vectors, read by a model or by rules, recalled as notes;
imports nothing until it is asked.
"""
