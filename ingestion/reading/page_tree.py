"""Finds which object each page of a PDF is; runs only inside a reading process."""

from __future__ import annotations

from typing import Any

__all__ = ["page_references"]


def page_references(root: Any, count: int) -> list[object]:
    """What refers to each page, in their order; equal references are one page. [] where the tree does not
    have `count` pages.

    root: the root of the tree of pages, as pypdf has it. Pages themselves are not read if a branch says that
    it has nothing else.
    """
    found: list[object] = []
    branches: dict[object, Any] = {}
    # A tree may lead back to itself, or have any number of empty branches.
    visits = 2 * count
    coming: list[tuple[Any, object]] = [(root, None)]
    while coming and visits and len(found) <= count:
        visits -= 1
        branch, reference = coming.pop()
        kids = branch.get("/Kids") if branch is not None else None
        if kids is None:
            found.append(reference)
            continue
        kids = kids.get_object()
        leaves = branch.get("/Count") == len(kids)
        for kid in reversed(kids):
            known = (kid.idnum, kid.generation) if hasattr(kid, "idnum") else object()
            if not leaves and known not in branches:
                branches[known] = kid.get_object()
            coming.append((branches.get(known), known))
    return found if len(found) == count else []
