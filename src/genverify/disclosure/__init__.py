"""What anybody's tables give away. The package can be called: `genverify.disclose(tables)` is the audit of some tables."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genverify.disclose.disclosure import Audit


class _Callable(ModuleType):
    """The package, whose name is that of its function: importing a part of it must not take the function away."""

    def __call__(self, tables: Any, **options: Any) -> "Audit":
        from genverify.disclose.sources import disclose

        return disclose(tables, **options)


sys.modules[__name__].__class__ = _Callable
