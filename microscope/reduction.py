"""``cuda.reduce``: a function of two numbers, folded over an array."""

from __future__ import annotations

from . import names
from .source import code_of

THREADS = 128


class Reduce:
    """What ``cuda.reduce`` makes of a function: call it with an array.

    Parameters
    ----------
    functor : function
        Of two numbers; in what order it meets the elements is open, as on a GPU.
    """

    def __init__(self, functor):
        code_of(functor)
        self.functor, self.kernel = functor, None

    def __call__(self, arr, size: int | None = None, res=None, init=0, stream=0):
        """Fold an array.

        Parameters
        ----------
        arr : array
            One axis.
        size : int, optional
            Elements to take, from the first; all if left out.
        res : device array, optional
            Where the result goes, into element 0.
        init : number
            Where the fold begins.

        Returns
        -------
        number or None
            None if there is `res`.
        """
        cuda = names.provided()
        if arr.ndim != 1:
            raise TypeError("only support 1D array")
        arr = arr if size is None else arr[:size]
        init = arr.dtype.type(init)
        if arr.size < 1:
            return init
        self.kernel = self.kernel or _kernel(cuda, self.functor)
        partials = cuda.device_array(min(THREADS, arr.size), arr.dtype)
        self.kernel[1, partials.size](cuda.to_device(arr), partials)
        last, total = (
            cuda.device_array(partials.size + 1, arr.dtype),
            cuda.device_array(1, arr.dtype),
        )
        last[:-1] = partials
        last[-1] = init
        self.kernel[1, 1](last, total)
        if res is None:
            return total.copy_to_host()[0]
        res[:1] = total
        return None


def _kernel(cuda, functor):
    combine = cuda.jit(device=True)(functor)

    @cuda.jit
    def fold(arr, partials):
        t = cuda.threadIdx.x
        step = cuda.blockDim.x
        own = arr[t]
        for i in range(t + step, arr.size, step):
            own = combine(own, arr[i])
        partials[t] = own

    return fold
