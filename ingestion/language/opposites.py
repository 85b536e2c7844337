"""Lists words of financial prose that contradict each other, and words that deny, doubt or qualify."""

from __future__ import annotations

from ingestion.language.vocabulary import words

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
_DUTIES = (words("may might can could optional"), words("must shall required mandatory"))
_LIMITS = (
    words("least minimum above exceed exceeds exceeded exceeding more over"),
    words("most maximum below under less fewer"),
)
_ORDER = (words("before prior earlier"), words("after subsequent later following"))
_PERMISSIONS = (
    words("accept accepts accepted allow allows allowed permit permitted"),
    words("refuse refuses refused reject rejected forbidden"),
)
_SCOPE = (words("include includes included including"), words("exclude excludes excluded excluding"))
_CHANGES = (
    words("retain retains retained keep keeps kept maintain maintains maintained"),
    words("raise raises raised lift lifts lifted lower lowers lowered"),
)
_POLICY = (words("tightening tighten tightened"), words("easing ease eased loosening loosened"))
# Pairs of sets: a word of one set contradicts the words of the other.
OPPOSITES = (MOVES, *HOLDINGS, _DUTIES, _LIMITS, _ORDER, _PERMISSIONS, _SCOPE, _CHANGES, _POLICY)
# Words for what was planned or expected rather than reached.
PLANNED = words(
    "target forecast projected projection expected expectation estimated estimate estimates planned "
    "plan budget budgeted will"
)
# Words by which a sentence says that something is not so, not yet so or not so for all: intended, claimed,
# conditional, ended, or true of some only.
DOUBTS = words(
    """
        may might could would should if unless until whether propose proposes proposed proposal proposals
        reject rejects rejected rejecting claim claims claimed claiming allege alleges alleged deny denies
        denied untrue false expect expects expected expecting expectation planned planning intend intends
        intended intention intends consider considers considered considering ask asks asked request
        requests requested call calls called recommend recommends recommended suggest suggests suggested
        hope hopes hoped seek seeks sought threaten threatens threatened aim aims aimed target targets
        promise promises promised according yet almost nearly formerly previously once instead unlike
        rather only except excluding apart stop stops stopped cease ceases ceased refrain refrains
        refrained prohibit prohibits prohibited prohibiting forbid forbids forbidden ban bans banned end
        ended ends despite although though but however whereas while fewer less half some most part partly
        refuse refuses refused refusing declined avoid avoids avoided avoiding oppose opposes opposed
        subject conditional conditionally provided postpone postponed postpones delay delayed delays
        suspend suspended abandon abandoned scrapped cancel cancelled withdrawn respondents opposition
        critics
    """
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
