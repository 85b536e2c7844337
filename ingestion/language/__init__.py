"""What the words and marks of a language mean wherever it is read: knows no page, no question and no
store.
"""
