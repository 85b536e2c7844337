"""Tells by common words and by script whether a text is in a language other than English."""

from __future__ import annotations

import re
import unicodedata

from ingestion.language.terms import STOP_WORDS

__all__ = ["is_foreign"]

WORD = re.compile(r"[^\W\d_]+")
# Words that nearly every question in German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish or
# Swedish has, without those that are English words too.
OTHERS = frozenset(
    """
        à è é auf aus bei das dem den der des ein eine einem einen einer eines für hat ich ihre im ist
        laut mit muss nach nicht noch sich sie sind um und vom von wann warum welche welchem welchen
        welcher welches wenn werden wie wird wo wurde waren hatte betrug zu zum zur au aux avec ce cette
        combien comment dans de du elle est et faut il la le les leur où par pour pourquoi quand quel
        quelle quelles quels qu que qui sont sur un une al como con cuál cuáles cuándo cuánta cuánto
        cuántos del dónde el en es está las los para por porque qué quién se según son su una alla che chi
        come cosa dal dalla degli dei della delle di dopo gli ha nel nella per perché quale quali quando
        quanta quanto quanti sarà secondo sono sui sul ao as até da dos em foi mais na não no nos os ou
        pela pelo qual quantos são sem uma aan een het hoe hoeveel naar niet ook op te uit van voor waar
        waarom wat welke wordt zijn czy dla ile jak jaka jaki jakie jest kiedy kto od po przez się w z za
        bir bu hangi için kaç kim mi mu nasıl ne nedir ve att av det är ett från hur när och på som till
        vad vilka vilken
    """.split()
) - frozenset(STOP_WORDS)


def is_foreign(text: str) -> bool:
    """Whether a text has more common words of other languages than of English, or mostly letters that are
    not Latin.
    """
    composed = unicodedata.normalize("NFC", text)
    words = [word.casefold() for word in WORD.findall(composed)]
    letters = [letter for word in words for letter in word]
    if not letters:
        return False
    latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if 2 * latin < len(letters):
        return True
    foreign = sum(word in OTHERS for word in words)
    return foreign > sum(word in STOP_WORDS for word in words)
