"""Symbols that stand for counts: a vocabulary whose usual meanings are offered, and legends of the file, which decide."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from genverify.model.errors import ConfigError
from genverify.reading.numerals import LIMITED, RANGED

# what a symbol can mean; the first word of a meaning is one of these
SUPPRESSED, MISSING, NOT_APPLICABLE, ZERO, SMALL, BETWEEN, ANNOTATION = (
    "suppressed", "missing", "not applicable", "zero", "rounds to zero", "between", "annotation",
)  # fmt: skip
MEANINGS = (SUPPRESSED, MISSING, NOT_APPLICABLE, ZERO, SMALL, BETWEEN, ANNOTATION)
MOST_DIGITS = 16  # more than a count may have that can be computed with; what is larger is no number to be read at all
# the usual meaning of each symbol, of publishers of many countries; it is offered and never assumed
VOCABULARY: Mapping[str, str] = {
    symbol: meaning
    for meaning, symbols in (
        (SUPPRESSED,
         "*|**|***|c|C|[c]|(c)|s|S|(S)|(s)|D|(D)|(d)|..C|#|\u2020|\u2021|[s]|[d]|[w]|(H)|masked|suppressed|"
         "redacted|[redacted]|withheld|confidential|hidden|data suppressed|not shown|not published|"
         "not disclosed|nondisclosed|supp|conf|<suppressed>|[suppressed]|(suppressed)|~|x|X|k|K|q"),
        (MISSING,
         "..|...|....|.....|......|\u2026|:|NA|N/A|n/a|na|n.a.|N.A.|(NA)|(N)|[x]|[n]|M|NaN|nan|null|none|"
         "missing|not available|[na]|n.d.|ND|[u]|(U)|u|N|--|---|[m]|not known|<NA>|data not available|"
         "unreliable|not reported|not calculated|not recorded|no data|not collected|unavailable"),
        (NOT_APPLICABLE, "z|Z|[z]|.|(X)|(x)|not applicable|/|\u00d7"),
        (ZERO, "-|\u2013|\u2014|\u2212|nil"),
        (SMALL, "(Z)|(z)|[low]|low|0~"),
        (ANNOTATION, "[e]|[p]|[r]|[b]|[f]|[E]|[P]|[R]"),
    )
    for symbol in symbols.split("|")
}  # fmt: skip
FOLDED = {symbol.casefold(): meaning for symbol, meaning in VOCABULARY.items() if sum(map(str.isalpha, symbol)) > 2}
# texts that are no word of a language: signs alone, or one to four letters in brackets
SIGNS = re.compile(r"[*\u2020\u2021#^~:.\u2026/\u2010-\u2015\u2212\u00d7-]{1,6}|[\[({<][A-Za-z*.:-]{1,4}[\])}>]|\.\.[A-Z]")
# a text that is a symbol wherever it stands, also where a label could stand
SURE_SYMBOL = re.compile(
    rf"{SIGNS.pattern}|[\[(]?(?:conf|supp?|suppressed|confidential|redacted|masked|hidden|withheld|not (?:shown|disclosed|"
    r"available))[\])]?",
    re.IGNORECASE,
)
# words of a text that says why no number stands there
SAYS_HIDDEN = re.compile(
    r"suppress|redact|confiden|disclos|withh?eld|mask|hidden|protect|too (?:small|few)|secret|geheim|sekret|confidentiel",
    re.I,
)
WORDS = (
    (re.compile(r"(?:less|fewer|lower) than (\d+|half)|under (\d+)|below (\d+)|between \d+ and (\d+)", re.I), ""),
    (SAYS_HIDDEN, SUPPRESSED),
    (re.compile(r"not reliable|unreliable|low reliability|standards? not met|not meet", re.I), SUPPRESSED),
    (re.compile(r"not applicable|not relevant|no procede|logically impossible|does not apply", re.I), NOT_APPLICABLE),
    (re.compile(r"rounds? to zero|negligible", re.I), SMALL),
    (re.compile(r"\bzero\b|\bnil\b|\bnone\b|magnitude zero", re.I), ZERO),
    (re.compile(r"not available|unavailable|not collected|missing|no disponible|not received|no data|not provided"
                r"|no appropriate", re.I), MISSING),
    (re.compile(r"estimat|provision|revis|forecast|break in", re.I), ANNOTATION),
)  # fmt: skip
LINK = r"\s*[\"')\]]?\s*(?:=|:|\u2013|-|denotes?|refers? to|means?|indicates?|represents?|stands? for|\s{2,})\s*"


@dataclass(frozen=True)
class Symbol:
    """What a text means that stands for a number: in one of our words, as it is printed, and how that is known."""

    text: str
    meaning: str
    said: str = ""
    how: str = "offered"

    @property
    def limits(self) -> tuple[int, int | None] | None:
        """The ends that the symbol prints itself, as `<5` or `0-2`; None where it prints none."""
        if self.meaning.startswith(BETWEEN):
            ends = [int(end) for end in re.findall(r"\d+", self.meaning)]
            return (ends[0], ends[1]) if len(ends) == 2 else (ends[0], None) if ends else None
        return (0, 0) if self.meaning == ZERO else None


def is_symbol(text: str) -> bool:
    """
    Whether a text stands in the vocabulary, or looks like a sign rather than a word.

    >>> [is_symbol(text) for text in ("*", "[c]", "Masked", "..C", "North", "1", "s")]
    [True, True, True, True, False, False, True]
    """
    return text in VOCABULARY or text.casefold() in FOLDED or bool(SIGNS.fullmatch(text))


def usual_meaning(text: str) -> Symbol:
    """
    What a text in place of a number usually means; offered, for the user to confirm.

    >>> [usual_meaning(text).meaning for text in ("<5", "0-2", ">95%", "[c]")]
    ['between 0 and 4', 'between 0 and 2', 'between 96 and', 'suppressed']
    """
    if found := LIMITED.fullmatch(text):
        sign, end = found[1].lower(), re.sub(r"\D", "", found[2])
        if "." in found[2] or ("," in found[2] and len(found[2].split(",")[-1]) != 3) or len(end) > 15:
            return Symbol(text, SUPPRESSED, how="printed as a limit that is no whole number")
        down = sign[0] in "<\u2264lfub" or sign == "=<"
        equal = "=" in sign or sign in ("\u2264", "\u2265", "at least", "up to")
        lo, hi = ("0", str(int(end) - (not equal))) if down else (str(int(end) + (not equal)), "")
        return Symbol(text, f"{BETWEEN} {lo} and {hi}".strip(), how="printed as a limit")
    if found := RANGED.fullmatch(text):
        return Symbol(text, f"{BETWEEN} {found[1]} and {found[2]}", how="printed as a range")
    if meaning := VOCABULARY.get(text) or FOLDED.get(text.casefold()):
        return Symbol(text, meaning)
    return Symbol(text, SUPPRESSED, how="not in the vocabulary: offered as the most careful")


def meaning_of_words(words: str) -> str:
    """
    One of our words for what a legend says.

    >>> meaning_of_words("figure not available"), meaning_of_words("less than 5"), meaning_of_words("Represents zero.")
    ('missing', 'suppressed', 'zero')
    """
    for pattern, meaning in WORDS:
        if found := pattern.search(words):
            if meaning:
                return meaning
            return SMALL if "half" in found[0].lower() else SUPPRESSED
    return ""


def find_legend(symbol: str, notes: Iterable[tuple[str, str]]) -> Symbol | None:
    """
    What the notes of a file say about a symbol; `notes` are places and texts. None where they say nothing.

    >>> find_legend("..", [("A9", ".. figure not available")]).meaning
    'missing'
    >>> find_legend("[x]", [("A4", "Shorthand: [x] = not available; [e] = estimate")]).said
    'not available'
    """
    name = re.escape(symbol)
    bare = symbol.isalnum()
    edge = r"(?:^|[\s\"'(,;:])" if bare else r"(?:^|[^*.\w-])"
    linked = re.compile(f"{edge}{name}{LINK}(?P<said>[^;\\n]+)")
    first = re.compile(rf"[\"'(]?{name}[\"')]?(?:\s+|,\s*)(?P<said>\S.+)", re.DOTALL)
    found: Symbol | None = None
    for place, text in notes:
        if symbol not in text:
            continue
        for match in ([] if bare else [first.match(text)]) + [linked.search(text)]:
            if match and (meaning := meaning_of_words(match["said"])):
                said = " ".join(match["said"].split()).strip(" .)\"'")
                if not found or found.meaning == ANNOTATION:
                    found = Symbol(symbol, meaning, said[:160], f"legend at {place}")
    return found


def told_symbol(text: str, word: str) -> Symbol:
    """
    What a user says that a symbol means: one of our words, a number, or two ends.

    >>> told_symbol("*", "1-4").meaning, told_symbol("-", "0").meaning, told_symbol("x", "missing").meaning
    ('between 1 and 4', 'zero', 'missing')
    """
    word = word.strip()
    if re.search(rf"\d{{{MOST_DIGITS + 1}}}", word):
        raise ConfigError(f"--symbol {text}: {word[:20]}... has more than {MOST_DIGITS} digits, too many for a count")
    if (ends := RANGED.fullmatch(word)) and int(ends[1]) > int(ends[2]):
        raise ConfigError(f"--symbol {text}: {word!r} begins above its end; write the smaller number first")
    if word in ("0", ZERO):
        return Symbol(text, ZERO, how="told")
    if RANGED.fullmatch(word) or LIMITED.fullmatch(word) or re.fullmatch(r">=\d+|between \d+ and( \d+)?", word):
        meaning = word if word.startswith(BETWEEN) else usual_meaning(word).meaning
        return Symbol(text, meaning, how="told")
    if word.isdigit():
        return Symbol(text, f"{BETWEEN} {word} and {word}", how="told")
    if word in MEANINGS:
        return Symbol(text, word, how="told")
    words = "suppressed, missing, 'not applicable', zero, a range such as 1-4, or <5"
    raise ConfigError(f"--symbol {text}={word}: no meaning; give {words}")
