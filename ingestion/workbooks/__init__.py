"""Reads workbooks and delimited text cell by cell, and draws their sheets as pages; evaluates no formula."""
