"""Tells which script a text is written in, and what similarity of vectors means for it.

It also finds the keywords of a text, for texts whose vectors mean nothing, and the assets it names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from pathlib import Path
from string import ascii_lowercase
from threading import Lock

import Stemmer

from chatbot.models.cosine_scale import by_embedder
from ingestion.language.terms import STOP_WORDS

__all__ = ["assets_in", "is_unread", "keywords_of", "own_threshold", "script_of", "stems_of"]

# Least cosine by the beginning of the embedder's fingerprint. 0.40 was found with OpenAI's; with the embedded
# model 0.37 finds nine in ten of the made questions' own news, and nothing for questions on policies; 0.82
# does with the multilingual one (benchmarks/signals.py --thresholds).
THRESHOLDS = {"minilm-": 0.37, "e5-": 0.82}
THRESHOLD = 0.40
# Before the name of an asset among keywords, so that it matches in whichever language it was named.
ASSET_MARK = "$"
# A shorter stem is that of other words too: such a name counts as it is written alone.
SHORTEST_STEM = 4
# Words of a text that are looked at: the longest post has some 700, and a hostile file may have millions.
MOST_CHARACTERS = 20_000
MOST_KEYWORDS = 400
# Fewer letters than that in all tell no script.
LEAST_LETTERS = 3
WORD = re.compile(r"\$?[^\W_]+(?:'[^\W_]+)*")
# Scripts whose words are not parted by blanks: pairs of neighbouring letters stand for them.
UNPARTED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
STEMMERS = {
    "LATIN": "english",
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "ARMENIAN": "armenian",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
}
# What the stemmer takes for forms of other words: a rating is no rate.
OWN_STEMS = {"rating": "rating", "ratings": "rating"}
# Words of questions and of every sentence, in English and in the largest of the other scripts.
COMMON = STOP_WORDS.union(
    ascii_lowercase,
    """
        а в и к о с у я без был была были было быть вам вас ваш весь вот все всё для его если есть еще ещё
        или как какая какие каким каков какова какой когда кто куда меня мне может мой нас наш него нее неё
        нет них она они оно при про раз сам свой себя сейчас сколько такой тебя тем тогда того тоже только
        том ты уже чего чем что чтобы это этого этой этом эту почему где над под после перед между из за на
        по до от во со не ни же ли бы мы вы он
    """.split(),
)
_stemming = Lock()


def own_threshold(fingerprint: str) -> float:
    """The least cosine similarity for vectors of that embedder."""
    return by_embedder(THRESHOLDS, fingerprint, THRESHOLD)


def script_of(text: str) -> str:
    """The script of most letters, as Unicode names it, such as "LATIN" or "CYRILLIC".

    "" if there are too few letters to tell.
    """
    counts = Counter(_script(letter) for letter in text[:MOST_CHARACTERS] if letter.isalpha())
    if counts.total() >= LEAST_LETTERS:
        return counts.most_common(1)[0][0]
    return ""


def is_unread(text: str, fingerprint: str) -> bool:
    """Whether vectors of that embedder mean nothing for a text: MiniLM knows no other script than Latin."""
    return fingerprint.startswith("minilm-") and script_of(text) not in {"", "LATIN"}


def assets_in(text: str) -> tuple[str, ...]:
    """Codes of the assets of `assets.tsv` that a text names, most often named first: by a name in any of its
    languages, or by the code in capitals.
    """
    counts = Counter(filter(None, map(_asset, _words(text))))
    return tuple(code for code, _ in counts.most_common())


def keywords_of(text: str) -> list[str]:
    """Distinct keywords in order: stems of words, and assets as $CODE; see stems_of."""
    found = dict[str, None]()
    for word in _words(text):
        if code := _asset(word):
            found[ASSET_MARK + code] = None
        elif word.casefold() not in COMMON:
            found |= dict.fromkeys(_stems(word))
    return list(found)[:MOST_KEYWORDS]


def stems_of(text: str) -> list[str]:
    """Every word's stem in order, common words too, which phrases are made of.

    In scripts without blanks between words, it gives pairs of letters.
    """
    return [stem for word in _words(text) for stem in _stems(word)]


def _words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).replace("’", "'"))


def _stems(word: str) -> list[str]:
    bare = word.lstrip(ASSET_MARK).casefold()
    if _script(bare[0]) in UNPARTED:
        return [bare[at : at + 2] for at in range(max(len(bare) - 1, 1))]
    return [OWN_STEMS.get(bare) or _stem(bare)]


def _asset(word: str) -> str:
    """The code of the asset that a word names, "" for none."""
    bare, names = word.lstrip(ASSET_MARK), _assets()
    if bare in names.values():
        return bare
    return names.get(_stem(bare.casefold())) or names.get(bare.casefold(), "")


@cache
def _assets() -> dict[str, str]:
    """Stem of a name -> code."""
    found: dict[str, str] = {}
    for line in (Path(__file__).parent / "assets.tsv").read_text("utf-8").splitlines():
        code, _, names = line.partition("\t")
        found |= {
            (stem if len(stem := _stem(name)) >= SHORTEST_STEM else name): code for name in names.split()
        }
    return found


@lru_cache(maxsize=4_096)
def _script(letter: str) -> str:
    if letter.isalpha():
        return unicodedata.name(letter, "").split()[0].split("-")[0]
    return ""


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    """The folded word without its endings; unchanged if its script has no stemmer."""
    name = STEMMERS.get(_script(word[0]), "")
    if not name or word in STOP_WORDS:
        return word
    with _stemming:
        stem: str = _stemmer(name).stemWord(word[:40])
    return stem or word


_stemmer = cache(Stemmer.Stemmer)
