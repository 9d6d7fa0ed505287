"""Names of the kinds of arrays that the library works with; apart from core/arrays, so that the checker needs no more."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
