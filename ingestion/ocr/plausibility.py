"""Judges how much of a text is language, by which letters follow which in some hundred languages; knows no
words and no single language.

Letters of the Latin, Cyrillic and Greek alphabets are folded to a-z and looked up in one table of letter
triples, which benchmarks/letter_triples.py counts in a folder of texts. Of other scripts it knows only that a
word keeps to one.
"""

from __future__ import annotations

import base64
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from operator import mul
from typing import NamedTuple

__all__ = ["LETTERS", "Judgement", "fold", "judge", "letter_runs"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Letters of other alphabets that Unicode does not decompose, by sound: Cyrillic, Greek, and those of single
# Latin alphabets.
ALIKE = dict(
    zip(
        "абвгдежзиклмнопрстуфхцчшщъыьэюяіїєґђјљњћџαβγδεζηθικλμνξοπρστυφχψωςøłæœßıđħŋþðəɛɔ",
        "abvgdezziklmnoprstufhccssqyqeuaiiegzjlnczabgdezitiklmnxoprstyfhposolaesidhntdaeo",
        strict=True,
    )
)
# Shorter runs of letters are abbreviations and names of units as often as words.
SHORTEST = 4
# Capitals up to this many are tickers, codes and acronyms: they prove a page no garbage and no language.
LONGEST_CODE = 5
# German and Danish compounds are longer, but no page measured had more than a fifteenth of its letters in
# such words.
LONGEST = 24
# Identifiers are longer, but their capitals part them into words; a sentence without spaces has a capital or
# two.
LONGEST_PART = 15
# A name repeated down a page is one piece of evidence, not fifty.
MOST_TIMES = 3
# What the four steps of the table stand for: about ten times the mean logarithm within each, see
# benchmarks/letter_triples.py.
STEPS = (-32, -13, 2, 16)
# Symbols that touch letters, figures or other such symbols: in one word often only where its letters are
# other glyphs' codes.
SYMBOLS = r"[!\"#*+<=>?@\[\\\]^`{|}~\x80-\xa6\xac-\xaf\xb1-\xb6\xb8-\xba\xbc-\xbf\xd7\xf7]"
TOUCHING = re.compile(
    rf"({SYMBOLS})(?!\1)(?=[^\W_]|{SYMBOLS})|[^\W_](?={SYMBOLS})|[^\W\d_](?=[$%&'(),;:][^\W\d_])"
)
# Formulas, code and rows of boxes have all the other symbols; these stand in them seldom.
TELLING = re.compile(r"[!\"#?@\\`\x80-\xa6\xac-\xaf\xb4-\xb6\xb8\xba\xbc-\xbf]")
FEWEST_TOUCHING = 2
CHARACTERS_A_TOUCH = 4
RUN = re.compile(r"[a-z]+")
# Where one in so many characters is a digit, the letters are a code's: no word lost its letters to them.
DIGIT = re.compile(r"\d")
CHARACTERS_A_DIGIT = 6
# Stretches of one script, for the scripts that are not folded. Jamo, kana and ideographs go together.
SCRIPT = re.compile(
    "[\u0530-\u058f]+|[\u0590-\u05ff\ufb1d-\ufb4f]+|[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]+|"
    + "|".join(f"[{chr(start)}-{chr(start + 0x7F)}]+" for start in range(0x900, 0x1000, 0x80))
    + "|[\u1000-\u109f]+|[\u10a0-\u10ff]+|[\u1200-\u139f]+|[\u1400-\u16ff]+|[\u1780-\u17ff]+|[\u1800-\u18af]+"
    + "|[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc]+"
)
# Longer words are none, and are not worth the memory.
LONGEST_REMEMBERED = 40
# Signs of text that runs backwards: words that end in their capital or begin with a stop, at least so many,
# and this share of all signs of direction. Only for alphabets with capitals: where text runs to the left,
# stops stand where the file's maker put them.
STOPS = frozenset(".,;:")
FEWEST_BACKWARDS = 6
MOST_BACKWARDS = 1 / 3
# UTF-8 read as one-byte characters: a first byte of a two- or three-byte letter, then only bytes that
# continue it.
CONTINUED = "[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
MISREAD = re.compile(f"[ÂÃÄÅÎÏÐÑÒÓ×ØÙÚÛ]{CONTINUED}|[à-í]{CONTINUED}{{2}}")
FEWEST_MISREAD = 5
MOST_MISREAD = 0.03
# Neighbours that the same page also writes as one word, one of them hardly seen otherwise: clean pages
# measured up to two.
FEWEST_BROKEN = 3
MOST_BROKEN = 0.006
SHORTEST_BROKEN = 5
MOST_SEEN = 2
# Beyond the alphabets with capitals, Korean for one leaves it to the writer which words to join.
WRITTEN_APART = "\u0590"
# Ligatures set apart from their words, of two kinds: "fi" alone is a word in Romanian, "ff" an abbreviation.
LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")
FEWEST_LIGATURES = 4
MOST_LIGATURES = 0.01
# Letters standing alone: this share of the words, so many, and so many different ones, as marks in a table
# are not.
MOST_ALONE = 0.4
FEWEST_ALONE = 20
FEWEST_DIFFERENT = 8


@dataclass(frozen=True, slots=True)
class Judgement:
    """plausible, implausible: letters in words that are, and are not, spelt as some language spells; figures,
    codes and short words are in neither. disordered: letters are right but spaces, direction or encoding are
    wrong through the text."""

    plausible: int
    implausible: int
    disordered: bool


class _Signs(NamedTuple):
    """Of one word: its letters in plausible and in implausible runs, and how many of its ends tell that it
    runs forwards, or backwards.
    """

    right: int
    wrong: int
    forwards: int
    backwards: int


def judge(text: str) -> Judgement:
    """How much of `text` is language. Linear in its length."""
    words = text.split()
    seen = Counter(words)
    signs = [_remembered(word) if len(word) <= LONGEST_REMEMBERED else _signs(word) for word in seen]
    times = [min(count, MOST_TIMES) for count in seen.values()]
    right, wrong = (
        sum(map(mul, times, letters))
        for letters in ([sign.right for sign in signs], [sign.wrong for sign in signs])
    )
    backwards = sum(sign.backwards for sign in signs)
    forwards = sum(sign.forwards for sign in signs)
    is_backwards = backwards >= max(FEWEST_BACKWARDS, MOST_BACKWARDS * (forwards + backwards))
    return Judgement(
        right,
        wrong,
        is_backwards or _is_spaced_out(seen) or _is_broken(words) or _is_misread(text, len(words)),
    )


def fold(text: str) -> str:
    """`text` in lower case, Latin, Cyrillic and Greek letters as a-z without their accents."""
    if text.isascii():
        return text.lower()
    return text.lower().translate(_folding())


def letter_runs(folded: str) -> list[str]:
    """The stretches of a-z in folded text."""
    return RUN.findall(folded)


def _signs(word: str) -> _Signs:
    folded = fold(word)
    if folded.isascii():
        right, wrong = (0, 0)
    else:
        right, wrong = _foreign_letters(folded)
    if not word.isalpha() and _is_symbols(word):
        wrong += len(word)
    else:
        digits = len(DIGIT.findall(word))
        is_code = digits * CHARACTERS_A_DIGIT >= len(word) or (
            word.isupper() and (digits > 0 or len(word) <= LONGEST_CODE)
        )
        for run in RUN.findall(folded):
            if len(run) < SHORTEST:
                continue
            if _is_run_together(run, word):
                wrong += len(run)
            elif _is_plausible(run):
                right += len(run)
            elif not is_code:
                wrong += len(run)
    if len(word) < SHORTEST or not folded.isascii():
        return _Signs(right, wrong, 0, 0)
    turned = word[::-1]
    return _Signs(
        right, wrong, _begins(word) + _begins_turned(turned), _begins(turned) + _begins_turned(word)
    )


# The words of a document return from page to page; so many take 5 MB.
_remembered = lru_cache(20_000)(_signs)


def _is_symbols(word: str) -> bool:
    """Symbols among its letters as only another glyph's code puts them there."""
    return TELLING.search(word) is not None and len(TOUCHING.findall(word)) >= max(
        FEWEST_TOUCHING, len(word) / CHARACTERS_A_TOUCH
    )


def _foreign_letters(folded: str) -> tuple[int, int]:
    """(letters in words of one script, letters in words that change it at every other letter) among those
    that do not fold.
    """
    runs = SCRIPT.findall(folded)
    letters = sum(map(len, runs))
    # A low byte of zero is one ideograph in 256, but every Latin letter whose two bytes were swapped.
    swapped = sum(not ord(letter) & 0xFF for run in runs for letter in run)
    is_wrong = letters >= SHORTEST and (2 * len(runs) > letters or 2 * swapped > letters)
    if is_wrong:
        return (0, letters)
    return (letters, 0)


def _is_plausible(run: str) -> bool:
    table = _table()
    state = 0
    total = 0
    for code in (*run.encode("ascii"), 96):
        state = state % 729 * 27 + code - 96
        total += table[state]
    return total >= 0


def _is_run_together(run: str, word: str) -> bool:
    """More letters than a word has, and no capitals within that would part them as identifiers are."""
    if len(run) <= LONGEST:
        return False
    parts = 1 + sum(before.islower() and after.isupper() for before, after in pairwise(word))
    return len(run) > LONGEST_PART * parts


def _is_spaced_out(words: Counter[str]) -> bool:
    alone = {
        word: times for word, times in words.items() if len(word) == 1 and word.isalpha() and fold(word) < "{"
    }
    return len(alone) >= FEWEST_DIFFERENT and sum(alone.values()) >= max(
        FEWEST_ALONE, MOST_ALONE * words.total()
    )


def _is_broken(words: Sequence[str]) -> bool:
    """Spaces within words: often enough, the same page has a word broken here and whole there."""
    # A capital apart from its word is a drop or small capital, set apart on paper too.
    words = [word.strip(".,;:()").casefold() for word in words if len(word) > 1 or not word.isupper()]
    seen = Counter(words)
    ligatures = [seen[ligature] for ligature in LIGATURES if ligature in seen]
    if len(ligatures) > 1 and sum(ligatures) >= max(FEWEST_LIGATURES, MOST_LIGATURES * len(words)):
        return True
    whole = {
        word for word in seen if len(word) >= SHORTEST_BROKEN and word.isalpha() and word < WRITTEN_APART
    }
    pairs = {
        (first, second)
        for first, second in pairwise(words)
        if first + second in whole and first and second and min(seen[first], seen[second]) <= MOST_SEEN
    }
    return len(pairs) >= max(FEWEST_BROKEN, MOST_BROKEN * len(seen))


def _begins(word: str) -> bool:
    """A capital before small letters."""
    return word.istitle() and word.isalpha()


def _begins_turned(word: str) -> bool:
    """A stop before letters."""
    return word[0] in STOPS and word[1:].isalpha()


def _is_misread(text: str, words: int) -> bool:
    return not text.isascii() and len(MISREAD.findall(text)) >= max(FEWEST_MISREAD, MOST_MISREAD * words)


@cache
def _folding() -> dict[int, str | None]:
    """Code points of accents to None, of letters to a letter of a-z."""
    folding: dict[int, str | None] = dict.fromkeys(range(0x300, 0x370))
    for code in (*range(0xC0, 0x530), *range(0x1E00, 0x2000)):
        letter = unicodedata.normalize("NFKD", chr(code).lower())[0]
        base = ALIKE.get(letter, letter)
        if chr(code).isalpha() and base in LETTERS:
            folding[code] = base
    return folding


@cache
def _table() -> tuple[int, ...]:
    """How much each triple of word end (0) and letters (1-26) speaks for language, the first the most
    significant.
    """
    packed = zlib.decompress(base64.b85decode(TRIPLES))
    return tuple(STEPS[byte >> shift & 3] for byte in packed for shift in (0, 2, 4, 6))


# Made by benchmarks/letter_triples.py: two bits a triple, packed and compressed.
TRIPLES = (
    "c-lRfe^3)?n#bRMy9u4pflg2eh)#n+!w;Q?#Tj65wn+d19XEoV5S$>W%>e#bW=<?+-KjSrU_{0ZN<iYQ6%Zn{jD?;~G1lHzgK>_Tn%hHHX3weGEp)}(p}Z@-"
    "b*}3EyElN_f8>vT-|qM6=lQ(f=le#MBUk3Q>FN0i&3$E#V`dO<%%(fi*%a;i2b^JzKO?mJt8c#XJ>ZyrP=BiV($~jyjFy?!)l#GBLv>Ts><j`aVZig-%Fngx"
    "7>1eIQ$a;r$Tk3{7iOavA3_10{BLscE?Pa)N&^x?BNeYGeJtHq!snh$t~}DPi;0<TEvE;i;Vbxsin2yqhIqb+>L56#u(HQop|V)qcWYp{x6h|>RgNu3EyoZ0"
    "3vX6=63zEGQ^M%%OS<B?u)SbP>S)|^#!Y1fH}>sl=}4bYJzE^%G=b8h^c=^9W_F+p{c1@6;39b;b0qp@xUWVn7oTqa__qly>@Pp~V9-p5pQa_7g76)i=a60|"
    "3Q|q#^O<0udPDz+R=JjTFnuiQmiL(>X$o!6DJZ?rV%;&|*|b3V6UmFFCe>o_*_zmH!PJ`XfSF*wde?KG%5$c=x@B+j@JiHIG%Y_U`>b&cT|K1n{Ivt}6mh#l"
    "Vd+j}YH7KmRQ3*tj(JfORghpA;x%%!%tO$W>A&LE)N2`lfCt(82PB8RQ&9koP&Us46#$<xi~=ZcK(}~mtm`LnUUKXcrBkBAFN#`*nFDm+Q_EHE0r5JFr=0~g"
    "gPQ`%Th`d`7=)i9<J~42JYBjQiEwLz-dkP=>Tnp&LH|nBg&CeZo9`B%lqAu9LaNki@zRQmgj_yoZ73PpxRp5K{0Ijv);gS{ZI1bB(jr~bzZ&fdz1>3O^E`ws"
    "i0NT2D3ugRk~|=%zndc{Md5MqB*()t>eJyQ#f=~UnpP_^P(y%=44JqXL%BB`r9iTSGwCP$(P-LxFo)-WTL+Hrb2vtAk5?kRd#Nk5P6j7)xM`TquiRVmH-yf="
    "NP2}3OV0>JoDp=e!5BvCIz<1+c#^;FcNMqsP)a2-@kWE02Im+<0Do6w=IF60^`bII(Mn17;WYXWX}Z|&QV^gokrt8za3QEb#*2EA*UH}nEHPB~G*2U&I4^!-"
    "o5w|A!X;Z953RE~tZ`b+4A&QKKM)E`M1Av8;TR;G<app>>#wgw*q<S<A0wX4De4+;=PKA2EuO-g3BJvi4wET<cy_^{z5}wieT>Rdh4_n}!dq!RGONSX2VXu4"
    "r^kkbqMTMohY1XHb+!-1KddJEGj79|o;j2H_o||kQiaWy`nHyS<fg;JX$htURa<iR$mYvLL5`{XOd*I~lORyB%4J(s%UIGKug{S2JE17o)alNws_rVuyru6Y"
    "Ef%AJc%>|G$r(a+ZXU%j;QD&g=#WYoxM*(@^r4lgYZH$zEy(rz9Zpda9d`S?UlQ;1DgvXT#xkX|N-d0GnBE{2CjUxM6fvh@<^#a6+588Wro`#AMVPmX{YM?*"
    "{YVax=VY5G+C=HCWZESddg|FH%;#`uIcf3<sSOWBz{W6#iEDupMRzOg61EMhO~!=3_%wnn-&m667Q5Ys<9WUk;RZuaj|&R5PFyL+D%kCfeRnn<F5b?u0CM0r"
    ">R5AYls5+ErgB7^w09)&mupjTz1$p#)o!`URfKmyw=qoI9P~G@Yk|2KQOI!&t?6aeVGK5AV@B}-N&u(vQ)CWnx7El)p}oYx`)S|7p#QPt41HgK=_NV#a_!l{"
    "ssu#1b6G$<@%x6#4wvK@@e2XaGKO9bl-q1}(Qmsm5}3@?fVxx5pZo^w^#1b`NsA~C;0zd3O;K@xi;Gnwj(QZ*U5J?|{mH*5I{L+5FDJ?$g-HfL2_^e)j8pfg"
    "G06zz@tp9K<6@Z<MNoUQEb%-`EX*moBVKeVsbRcZu8N~6$WaPOK+_oUG*T2_arQ=&Dj^$WG3qg&N|96L+KFULuXUGMILUKJ0B^S5ZyU-UPp!F)<wqP8$5(Dv"
    "n@ipuQu*R7_fpH_pM)1^^{7yk-%<k8T^&_@g|GVOpr)Feg-_9IHs&cP;_4k$&7iusuW(3@EIT$CIn`@r&ZHfuPUoL!)@QPBGaqzX49f6{12sX_#|GewuLY-b"
    "OiA50z)qD)pBFn@z42P(2%Pi=o0?BjMLGFYRZGxbQFAP)_u+b(_QEIOKA<t97x^Y5q=;CC9t8C4zUqrDdo?2~QP-*VE_nk&3<Zh-5bXVS{7LcyM5qUaxMX4p"
    "b)&<B&e7*KzuoSa{FwWBv35ZGA~Q<vJZG(QiheAl(Pu82>fx)I-e!$lj5Cj5DjUaSPYdc<M{i)mMDj4k-|?q6iQ4aU`2CL2TyyRrMEp&egLIehp{7*s%tB7*"
    "QJhn}zig6249Uxi-O|=3K9)qM)9Du*SHZs9+&8|lrTG0KmNsL0nJo_yRj$I?OX)uuK_l_)u2hz1W>}zMz&$L3I2*Yfob-#MiJ7H2Jcw+E4ZE@*05u@V7)&e%"
    "fK^i<pKs;JRBlI^`01_2zH{!5OA}ZRkx#wk=J{L<Hn)>;mch-BpoPpcz+1M?@q>rU?(jUf3^r~z0KHM{(veNq%}qFXoAd_k@dn$KiRACYLEI3rRAv(}SBTSM"
    "-JoYf(t+Bsil2g=fa!{a0o+Cw*GsX|%H2lk%BbN-MWHldaGK9MTfK?h&(N;kq#la}f5-~G9&}`feK;Ur*l*a`HK`8wr*n0anlVLC7)m&j%aPFrTof$|Mm>@b"
    "g!YY=E-DJ5i;2A4Twn&=;68`w5a-S5x{7)*IXy>feC}1nKI0yI_g2CnY3azL$yc{uvQ$ubKi`OZcf-!IlENVLk<iSW$OqpcP~k?W8#u2!4P5W`wLgO#Byn@Z"
    "Ib7gkJ4=iBRtmD*d4`@Nu%yJ3e2_TMR@0m)!$PBx>Bs<ej=@ELtr%&e0{pTsn6kHCDB|-#Oe%Y>?Ch_C$rx<N)8w=g+2-iD=#2E`{gvJA!O}<M#&}N953O2}"
    "<dA$eVAZCmU3`z1>^Q@D;VVT+Wdg#MOdB5ZYiMSs9xFiA1@4gk<s4$QuHqw&{*bx0FP14s0<CN&&lqJm?NM|LQu29|K(ZXJmkWa}ruGN^miYwvczOmDr5mHj"
    "LeQhtVCOKaFZ-l^8otE3L3ayBCF|YN+VWV2nPvfskGEK9@b~$}NI%`asc8hJ!&qh)0_CgNwC5K$>9dGa+*HrQ7Ts><+n`nByI5^+Zi?P!bc}60R<`9CUt(U*"
    "?mVl0-df?gsy}D)!cUqnjU{f?eVWI+%F@7FwD*VL71XaEC>U1#G&AHX@PlkQtrPBN^%s<^o1~J~adBh}eo}vk(=34_8Mz_%u|4PL4??}sVR*0l_*ha~i@Is!"
    "d$1s<wbPu+#qFZo6k-;-v9QCxk9dOb$kbH+wjWjgJu6YmL-nE0CR8H|;uyD(&7I_CAQzWUBMzWpUGIho5LA2|^U%9JZxYPt*;tyMuBW}j@uSWu^k7kp7`bg}"
    "Kl7M5c6k%gvt)Dx>;>h1Ns$MYCrLNHx$Lg|Q2oc@C_%K%OMkZeXEF1Fu!XCy)zq-q_8>%i>&y>6e?d$lfi<|mHjei~$cqt;66c}rg5d?UM&wJftqRd~=z8x<"
    "*krfcCCT>OKkC3Os1SF(w1kFe+x@M#H;-W-gEi=`e^DC5&ALtU544GLm9;$tC$2AhoFxHQyqGx7rYX8RXus1rDmo+*lDyUZGdMW4IpqGeB=v{<k`u=vIp%ln"
    "*;CP=d7&uG+4|xlE)TfZvRjy4T`UpCVf2flKjIX`e@Lb1$EH+tA82@IZ}c0mD;t-*S9*6d+Ua^`mb@3A3gGLxIbG7(ilg!Y*>Tw#Yhq@sbU4lu&6!|C9Ac4Y"
    "B2=|h8SpX7=?y1DS8tk(AnK$0&}p8hU>Xs}q<C<zlrutsv6ded#A^q@>4em%;zG1+Md+~J^3fp|@#@inRee_YqOozQq6J~Fu_Zv!Bq<uv)5YcJkJ_Y=y0SQy"
    "+3f>#&#E478Xr%T&3G@<U7RkKj&ZfpN{oukr{Lsx%~zYVh&-OBE%{iZ4DLMdED5VWp4Csv731qN_Z0G+V`nyqqf=b<ni7)SfdhUzqv%t7SSlwYvV2YIY`@jg"
    "N0MLjG@R@ecF~WEPhrJQ;JDwc-|f;>&SObQPf^{HJI8YmM{UoY1bP<WY`8cOwlAmr&R%LEW&=@>%LQO|>KnyA6xuzZeu6OAGr&}z4Z3--m7(vklrp3nuAC^H"
    "L<-A%CFJuQ<zB;KfmOKjaAW4s@5j{(Sfg;ZPY-j3^DTIrZ$Pe+T_iaZjDW2GOzejVRr0s8Zk>j41!)Bmy3Q#Wv5pKvThf{mR5kc1=D`7a*4;4LJrOk*(RnvM"
    "jq+9t0QiuFK(x{zE<SEr`$SQ!)Cj$**cNxqyRFc(qwHQ|6MQoJ(x4hGF3QWXY8rg@Mk;e5;ZgJkGv|+g-8<E*{<btf?|7wqoV^_AY`>Y<8y&AQ`p5-O&_pj$"
    "MHy-96SlH%JCj20$l>u?^8(zK?2+T!&DjM;@A-7y{wU2w>xas<%~vzV;GM67HR)do+i&KVcC=WluX?j?LKIJ$jceh;<A`EoaWDe7hKTE-2ZIa>96XpIYF0gV"
    "UGnH(lw?6W%P9E7F=Os9u<%Pa($frJlEue(=tjgI%krNZ9g@?w=zr{YN@CXg;^2iCE1m=dgFuph<Y@R%K_pI23eVAL0L1Q!&^zl-`ypdO^=NQj+Se~8<#Xu%"
    "Ao}2ZtS_ut&~Lou_%`aM2iHp@WM}rtE?K~SW7$Ywmsb{zTsJbu8@mH&!!I<wx>(;T*i9qNiCL~TNj!>=2DSKLI%@l|--esM?O#HJl75~0ixnRe!(gw1gk>WQ"
    "hDS=I_(I|IGI=(9tmwyU#c%51tnB~HW2q5Er*VjZDwd2wq1JL_7YEv$;^>?6YEB8HbpuQ%TdZ0j+_)ivf67qZH3v$+TA8s-^!)N>bc!e1>G6bP^dZN8`Un2u"
    "vB%ineJ=<KCk-h0G@8u-4mkeoj7afu;pw^wV8jUo?+L3!Va1*$RH!x~czB8!S;@!$N^Oqi1tPy|qlp;+z{1M(t?8^!>0hH|=zqnfT)7wUW3MPW+pr@Nol+J<"
    "A)Z#cqk8L(gVlcz8r!7Et4I*J?!h`;XOLQ5fAzBOaTkVche*<vmjZ`9lSy4HdO!P+;2s}Jw4wH!<{*r@m)@hlg+6ame~+?F!RFy4cEF6@37Yp>Ad$?&mwl)}"
    "9YFboe68Nd{#;$rWiFq+T2*BV61f13H9i*#_`DMLdUiEY2M>I-sR`cl^qCANIt%#xp{jAt;#b;b+XxAxO$a{my<|0JVQQtyvCtbDR?k(#gsq(V>YIN><fXHL"
    "Vl88u=4kK1jt(P5{FkB-8n^pcQsa_RyXVHrMAH24nBJRD6n3H?9%<~A2Le{iAufu8BqQ!?20w*uPaZ!hV2T(zazdPS=!T9?Bzdq9eRdC=Y;N1<Z<cm3hB=@f"
    "BhCN3=V8?UDZW&uzxasM|KFYR9<7$1G1BEE`HSp4u)6h*B@W5nZm4ClkziQ!|7sxoNB"
)
