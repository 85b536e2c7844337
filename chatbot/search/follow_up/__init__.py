"""Turns a follow-up into a standalone question: by rules, or by the user's own chat model."""
