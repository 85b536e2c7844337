"""Lists the words around figures: what rounds, compares, moves or adds them up."""

from __future__ import annotations

from ingestion.language.opposites import MOVES
from ingestion.language.terms import terms
from ingestion.language.vocabulary import either, words

__all__ = ["ABOUT", "AGAINST", "CHANGE_NAMES", "MOVING", "ROUNDERS", "TOTALS"]

# Before a figure that is rounded: "about 5 per cent". The second is a pattern.
ROUNDERS = words("about around approximately roughly nearly almost some")
ABOUT = either(ROUNDERS)
# Before what something is compared with, as a pattern without a group.
AGAINST = r"compared? (?:with|to)|versus|vs\.?|against"
# What a change is called, as a pattern without a group.
CHANGE_NAMES = "change|increase|decrease|growth|rise|fall|decline|drop|difference|increment|reduction"
# Words of MOVES by which somebody raises or cuts something, or that are no verbs.
_NO_VERBS_OF_FIGURES = words(
    """
        raise raises raised lower lowers lowered lowering cut cuts reduce reduced reduces reducing up upward
        upwards down downward downwards higher growth
    """
)
# How a figure moves or has moved, as a pattern without a group.
MOVING = either(
    ({*MOVES[0], *MOVES[1]} - _NO_VERBS_OF_FIGURES)
    | words("change changed changes develop developed move moved")
)
# Terms that say of the label of a row that it is a total.
TOTALS = frozenset(terms("total totals consolidated"))
