"""Answers made of verbatim quotations from the pages: cutting, scoring and choosing passages."""
