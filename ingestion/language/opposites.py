"""Lists words of financial prose that contradict each other, and words that deny or qualify."""

from __future__ import annotations

from ingestion.language.vocabulary import words

__all__ = [
    "COMPARATIVES",
    "DENIALS",
    "HOLDINGS",
    "MOVES",
    "PLANNED",
    "QUALIFIERS",
    "SUPERLATIVES",
    "TOLD_LESS",
    "TOLD_MORE",
]


_RISING = words(
    """
        rise rises rose risen rising increase increases increased increasing grow grows grew grown
        growth raise raises raised raising climb climbs climbed climbing jumped jumps surged surges
        soared soars widened widens expanded expands up upward upwards higher
    """
)
_FALLING = words(
    """
        fall falls fell fallen falling slip slips slipped slide slides slid dip dips dipped sink sinks
        sank sunk tumbled plunged decrease decreases decreased decreasing decline declines declined
        declining drop drops dropped dropping plummeted reduced reduces reducing narrowed narrows
        eased easing lower lowers lowered lowering cut cuts shrink shrinks shrank shrunk contracted
        down downward downwards
    """
)
# How something moved: up and down.
MOVES = (_RISING, _FALLING)
# Words, other than verbs, for a difference that goes one way.
TOLD_MORE = words("more extra gain gains growth bigger larger greater improvement")
TOLD_LESS = words("less fewer smaller loss losses lost reduction shortfall")
# The most and the least of something, then more and less than another.
SUPERLATIVES = (
    words("most highest largest biggest greatest longest fastest"),
    words("least lowest smallest fewest shortest slowest"),
)
COMPARATIVES = (
    words("more higher larger bigger greater longer faster"),
    words("less lower smaller fewer shorter slower"),
)
_BALANCES = (words("surplus surpluses"), words("deficit deficits shortfall"))
_RESULTS = (words("profit profits gain gains"), words("loss losses"))
_FLOWS = (words("inflow inflows"), words("outflow outflows"))
# Money held against money owed or lost.
HOLDINGS = (_BALANCES, _RESULTS, _FLOWS)
# Words for what was planned or expected rather than reached.
PLANNED = words(
    "target forecast projected projection expected expectation estimated estimate estimates planned "
    "plan budget budgeted will"
)
# Words of a question that ask for more than one figure or one sentence can say: about all or some, always,
# per head, on average, compared with a plan, or for a reason.
QUALIFIERS = words(
    """
        always ever never both all every each only half average mean per monthly quarterly quarter
        quarters month months weekly daily expected budgeted forecast target targeted planned because due
        row consecutive straight real nominal double doubled triple halve halved faster slower change
        changed competitors competitor rivals rival other still again already beat beaten stop stopped
        stops avoid avoided prevent prevented reverse reversed sharply significantly strongly slow slowed
        slows
    """
)
# Words that deny the words around them, spelled as `comparable` words are: without apostrophes.
DENIALS = words(
    """
        not never no nor neither without cannot cant dont doesnt didnt isnt arent wasnt werent wont
        shouldnt mustnt neednt unchanged unable fail fails failed failing failure lack lacks lacked
        absence
    """
)
