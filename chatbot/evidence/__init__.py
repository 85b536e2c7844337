"""One view of a page as evidence: its words, figures, tables, sentences and what can be quoted of it;
knows no question and no answer.
"""
