"""Answers to take away and to check again: one file that holds an answer with all it rests on, and its
verification without trust in it.
"""
