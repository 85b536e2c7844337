"""One question on its way to a checked answer: joins what was said before, the pages found and what is
made of them; keeps nothing.
"""
