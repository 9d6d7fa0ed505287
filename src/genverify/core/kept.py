"""A few things that were made last, kept because they are asked for again and again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

MOST = 8
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def kept(known: OrderedDict[K, V], key: K, make: Callable[[], V], most: int = MOST) -> V:
    """
    What is known by this key, made where it is not; those asked for last are kept.

    >>> known = OrderedDict[str, int]()
    >>> [kept(known, word, lambda: len(known), most=2) for word in ("a", "b", "a", "c", "b")]
    [0, 1, 0, 2, 2]
    """
    if key not in known:
        known[key] = make()
        if len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]
