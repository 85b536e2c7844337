"""Knows the words of financial prose of which one says what another denies: moves, balances, limits,
order; knows no pages and no figures.
"""

from __future__ import annotations

__all__ = [
    "COMPARATIVES",
    "DENIALS",
    "DOUBTS",
    "HOLDINGS",
    "MOVES",
    "OPPOSITES",
    "PLANNED",
    "QUALIFIERS",
    "SUPERLATIVES",
    "TOLD_LESS",
    "TOLD_MORE",
    "VERBS_OF_MOVES",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# How something went: up and down.
MOVES = (
    _words(
        """rise rises rose risen rising increase increases increased increasing grow grows grew grown growth raise raises raised raising climb climbs climbed
        climbing jumped jumps surged surges soared soars widened widens expanded expands up upward upwards higher"""
    ),
    _words(
        """fall falls fell fallen falling slip slips slipped slide slides slid dip dips dipped sink sinks sank sunk tumbled plunged decrease decreases decreased
        decreasing decline declines declined declining drop drops dropped dropping plummeted
        reduced reduces reducing narrowed narrows eased easing lower lowers lowered lowering cut cuts shrink shrinks shrank shrunk contracted down downward
        downwards"""
    ),
)
# Without what goes with other moves too, as in "higher costs fell to" and "growth slowed to".
VERBS_OF_MOVES = tuple(
    side - _words("growth higher lower up down upward upwards downward downwards") for side in MOVES
)
# What a difference is called that goes one way, without a verb of it.
TOLD_MORE = _words("more extra gain gains growth bigger larger greater improvement")
TOLD_LESS = _words("less fewer smaller loss losses lost reduction shortfall")
# What has the most and the least of something, and what has more and less than another.
SUPERLATIVES = (
    _words("most highest largest biggest greatest longest fastest"),
    _words("least lowest smallest fewest shortest slowest"),
)
COMPARATIVES = (
    _words("more higher larger bigger greater longer faster"),
    _words("less lower smaller fewer shorter slower"),
)
# What a balance is: held or owed.
HOLDINGS = (
    (_words("surplus surpluses"), _words("deficit deficits shortfall")),
    (_words("profit profits gain gains"), _words("loss losses")),
    (_words("inflow inflows"), _words("outflow outflows")),
)
# Both directions of each pair.
OPPOSITES = (
    MOVES,
    *HOLDINGS,
    (_words("may might can could optional"), _words("must shall required mandatory")),
    (
        _words("least minimum above exceed exceeds exceeded exceeding more over"),
        _words("most maximum below under less fewer"),
    ),
    (_words("before prior earlier"), _words("after subsequent later following")),
    (
        _words("accept accepts accepted allow allows allowed permit permitted"),
        _words("refuse refuses refused reject rejected forbidden"),
    ),
    (_words("include includes included including"), _words("exclude excludes excluded excluding")),
    (
        _words("retain retains retained keep keeps kept maintain maintains maintained"),
        _words("raise raises raised lift lifts lifted lower lowers lowered"),
    ),
    (_words("tightening tighten tightened"), _words("easing ease eased loosening loosened")),
)
# What was meant to be rather than was.
PLANNED = _words(
    "target forecast projected projection expected expectation estimated estimate estimates planned "
    "plan budget budgeted will"
)
# What a sentence says that is not so, or not yet, or not of all: meant, claimed, tied to a condition, over,
# of some alone.
DOUBTS = _words(
    """may might could would should if unless until whether propose proposes proposed proposal proposals reject rejects rejected rejecting claim claims
    claimed claiming allege alleges alleged deny denies denied untrue false expect expects expected expecting expectation planned planning
    intend intends intended intention intends consider considers considered considering ask asks asked request requests requested call calls called recommend
    recommends recommended suggest suggests suggested hope hopes hoped seek seeks sought threaten threatens threatened
    aim aims aimed target targets promise promises promised according yet almost nearly formerly previously once instead unlike rather only except excluding
    apart stop stops stopped cease ceases ceased refrain refrains refrained prohibit prohibits prohibited prohibiting forbid forbids forbidden ban bans
    banned end ended ends despite although though but however whereas while fewer less half some most part partly
    refuse refuses refused refusing declined avoid avoids avoided avoiding oppose opposes opposed subject conditional conditionally provided
    postpone postponed postpones delay delayed delays suspend suspended abandon abandoned scrapped cancel cancelled withdrawn respondents opposition critics"""
)
# Words of a question that ask for more than one figure or one sentence tells: of all or some, always, per
# head, as a mean, against what was meant, for a reason.
QUALIFIERS = _words(
    """always ever never both all every each only half average mean per monthly quarterly quarter quarters month months weekly daily expected budgeted
    forecast target targeted planned because due row consecutive straight real nominal double doubled triple halve halved faster slower change changed
    competitors competitor rivals rival other still again already beat beaten stop stopped stops avoid avoided prevent
    prevented reverse reversed sharply significantly strongly slow slowed slows"""
)
# Words that deny what stands with them, in the spelling of comparable words.
DENIALS = _words(
    """not never no nor neither without cannot cant dont doesnt didnt isnt arent wasnt werent wont shouldnt mustnt neednt unchanged unable
    fail fails failed failing failure lack lacks lacked absence"""
)
