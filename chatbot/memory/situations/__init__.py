"""Situations with the advice recorded for them: kept, indexed, recalled."""
