"""Checks whether an answer's figures stand on the cited pages, as what the answer says they are."""
