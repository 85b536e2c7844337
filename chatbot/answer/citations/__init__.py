"""Citation keys in answers, and the words of a page that stand behind each."""
