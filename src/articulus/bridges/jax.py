"""Quantities of mechanisms as differentiable functions of JAX arrays, on the processor: native code called by XLA on its own buffers.

`wrap` registers a handler of XLA's foreign-function interface (its C structures, xla/ffi/api/c_api.h, read through ctypes); no compiler
is needed. Derivatives are the analytic ones of the quantity, as linear maps that JAX transposes for reverse mode.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX

from articulus import kernel
from articulus.bridges.extra import require
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean
from articulus.kernel import Kernel, batch
from articulus.kernel.arrays import row_bytes
from articulus.simulation.running import Loop

_WORD = 8
_API, _STAGE, _ARGS, _RETS = 16, 32, 40, 80
"""Places in a call frame of XLA [bytes]."""
_COUNT, _PLACES = 16, 32
"""Places in its lists of arguments and results."""
_DATA, _RANK, _DIMS = 24, 32, 40
"""Places in a buffer."""
_METADATA = 1
"""Type of the extension by which XLA asks for the version."""
_numbers = itertools.count()
_kept: list[Any] = []
"""Handlers and kernels live as long as the process: compiled programs of XLA point to them."""


class _ErrorArguments(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    ]


def wrap(mechanism: Mechanism, quantity: str, frames: Sequence[str] = ()) -> Callable[..., Any]:
    """Return a quantity as a function of JAX arrays.

    It is batched (any leading axes, which broadcast), works under `jit`, `vmap`, `grad`, `jvp`, `vjp`, `jacfwd` and `jacrev`, and has
    exact first derivatives. JAX has to work in double precision. Needs the extra `jax`.

    Parameters
    ----------
    mechanism : Mechanism
        Without constraints, or its `tree`.
    quantity : str
        Such as "forward_dynamics", "inverse_dynamics", "mass_matrix" or "pose".
    frames : sequence of str
        Frames that it is about.

    Returns
    -------
    callable
        Callable of the arguments of the quantity and, where the mechanism has named parameters, `p`.
    """
    jax = require("jax", "articulus.bridges.jax.wrap", "jax")
    jnp = jax.numpy
    _require_double(jax)
    function = mechanism.function(quantity, frames)
    if function.n_out() != 1:
        raise InputError(
            f"jax.wrap: '{quantity}' has {function.n_out()} results; expected a quantity with one"
        )
    value = mechanism.kernel(quantity, frames)
    shape, cores, names = value.output_shapes[0], value.input_shapes, value.input_names
    ranks = tuple(map(len, cores)), (1,) * (1 + len(cores))
    slopes = kernel.compile(_with_jacobian(function), finite=False, ranks=ranks)
    call_value, call_slopes = (_target(jax, k) for k in (value, slopes))

    def spread(given: Sequence[Any]) -> list[Any]:
        """Return the arguments with the same leading axes."""
        if len(given) != len(cores):
            raise TypeError(f"{quantity}: found {len(given)} arguments; expected {', '.join(names)}")
        arrays = [jnp.asarray(x, dtype=float) for x in given]
        for name, x, core in zip(names, arrays, cores):
            if x.shape[x.ndim - len(core) :] != core:
                raise TypeError(
                    f"{quantity}: '{name}' of shape {x.shape}; expected (..., {', '.join(map(str, core))})"
                )
        lead = jnp.broadcast_shapes(*(x.shape[: x.ndim - len(core)] for x, core in zip(arrays, cores)))
        return [jnp.broadcast_to(x, lead + core) for x, core in zip(arrays, cores)]

    def results(given: Sequence[Any], kernel_: Kernel, sizes: Sequence[tuple[int, ...]], name: str) -> Any:
        lead = given[0].shape[: given[0].ndim - len(cores[0])]
        kinds = [jax.ShapeDtypeStruct(lead + size, float) for size in sizes]
        return jax.ffi.ffi_call(name, kinds, vmap_method="broadcast_all")(*given)

    @jax.custom_jvp
    def wrapped(*given: Any) -> Any:
        (out,) = results(given, value, [shape], call_value)
        return out

    @wrapped.defjvp
    def tangent(given: Any, directions: Any) -> Any:
        size = math.prod(shape)
        sizes = [shape, *((size, math.prod(core)) for core in cores)]
        out, *matrices = results(given, slopes, sizes, call_slopes)
        lead = out.shape[: out.ndim - len(shape)]
        change = sum(
            jnp.einsum("...ij,...j->...i", J, d.reshape(*lead, -1)) for J, d in zip(matrices, directions)
        )
        return out, change.reshape(out.shape)

    def call(*given: Any) -> Any:
        return wrapped(*spread(given))

    call.__name__ = quantity
    call.__doc__ = (
        f"{quantity} of '{mechanism.name}': {', '.join(names)} -> (..., {', '.join(map(str, shape))})."
    )
    return call


def wrap_run(
    loop: Loop,
    figure: Any,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    by: Sequence[str],
    **settings: Any,
) -> Callable[[Any], Any]:
    """Return a figure of a run as a function of a JAX array of parameters, (..., n) -> (...).

    It works under `jit`, `vmap`, `grad`, `vjp` and `jacrev`; the derivatives are those of `Loop.gradient`, forward or by the adjoint,
    whichever is faster. Each entry of a batch is a run of its own.

    Parameters
    ----------
    loop : Loop
    figure : str, callable or Figure
        See `Loop.gradient`.
    t_end, q0, v0, settings :
        As those of `Loop.gradient`.
    by : sequence of str
        Parameters, in the order of the array.
    """
    jax = require("jax", "articulus.bridges.jax.wrap_run", "jax")
    jnp, names = jax.numpy, tuple(by)
    _require_double(jax)
    for name in names:
        if name not in loop.parameters:
            raise InputError(f"jax.wrap_run: no parameter '{name}'; {did_you_mean(name, loop.parameters)}")

    def both(rows: Any) -> np.ndarray:
        """Return figure and gradient of each row, (..., 1 + n)."""
        flat = np.asarray(rows, dtype=float).reshape(-1, len(names))
        out = np.empty((len(flat), 1 + len(names)))
        for k, row in enumerate(flat):
            found = loop.gradient(
                figure, t_end, q0, v0, by=names, params=dict(zip(names, row.tolist())), **settings
            )
            out[k] = [found.value, *found.gradient]
        return out.reshape(*np.shape(rows)[:-1], 1 + len(names))

    def ask(p: Any) -> Any:
        kind = jax.ShapeDtypeStruct((*p.shape[:-1], 1 + len(names)), float)
        return jax.pure_callback(both, kind, p, vmap_method="expand_dims")

    @jax.custom_vjp
    def run(p: Any) -> Any:
        return ask(p)[..., 0]

    def forward(p: Any) -> tuple[Any, Any]:
        found = ask(p)
        return found[..., 0], found[..., 1:]

    run.defvjp(forward, lambda slopes, weight: (weight[..., None] * slopes,))

    def call(p: Any) -> Any:
        p = jnp.asarray(p, dtype=float)
        if p.shape[-1:] != (len(names),):
            raise TypeError(
                f"wrap_run: parameters of shape {p.shape}; expected (..., {len(names)}) for {', '.join(names)}"
            )
        return run(p)

    return call


def _require_double(jax: Any) -> None:
    if not jax.config.jax_enable_x64:
        raise InputError(
            "jax.wrap: JAX works in single precision; expected double: jax.config.update('jax_enable_x64', True) before anything else"
        )


def _symbols(function: ca.Function) -> list[MX]:
    return [MX.sym(function.name_in(i), *function.size_in(i)) for i in range(function.n_in())]


def _with_jacobian(function: ca.Function) -> ca.Function:
    """Return its result and its derivative by every argument; a row of a derivative belongs to an entry of the result, row by row."""
    given = _symbols(function)
    out = ca.vec(ca.densify(function(*given)).T)
    return ca.Function("slopes", given, [out, *(ca.vec(ca.densify(ca.jacobian(out, x)).T) for x in given)])


def _target(jax: Any, called: Kernel) -> str:
    """Register a kernel with XLA; return the name by which programs call it."""
    name = f"articulus_{next(_numbers)}"
    strides = [row_bytes(s) for s in (*called.input_shapes, *called.output_shapes)]
    inputs, native, cost = (
        len(called.input_shapes),
        called._source.native(called.lanes),
        called.instruction_count,
    )
    single = called._source.native(1)

    def handle(frame: int) -> int:
        word = ctypes.c_int64.from_address
        extension = word(frame + _WORD).value
        api = word(frame + _API).value
        if extension and ctypes.c_int.from_address(extension + 8).value == _METADATA:
            _tell_version(extension, api)
            return 0
        try:
            words: list[int] = []
            rows = 1
            for list_at, count in ((_ARGS, inputs), (_RETS, len(strides) - inputs)):
                places = word(frame + list_at + _PLACES).value
                for k in range(count):
                    buffer = word(places + _WORD * k).value
                    words += (word(buffer + _DATA).value, strides[len(words) // 2])
            first = word(word(frame + _ARGS + _PLACES).value).value
            rank, dims = word(first + _RANK).value, word(first + _DIMS).value
            own = len(called.input_shapes[0])
            for k in range(rank - own):
                rows *= word(dims + _WORD * k).value
            if rows:
                batch.run(native if rows > 1 else single, words, rows, cost)
            return 0
        except Exception as error:  # noqa: BLE001  XLA takes it on: an exception would be lost in ctypes
            return _error(api, f"articulus: {error}")

    handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(handle)
    _kept.append((handler, called))
    jax.ffi.register_ffi_target(
        name, jax.ffi.pycapsule(ctypes.cast(handler, ctypes.c_void_p).value), platform="cpu"
    )
    return name


def _tell_version(extension: int, api: int) -> None:
    """Write the version of the interface that XLA itself has: this code reads nothing that changed between its versions."""
    metadata = ctypes.c_int64.from_address(extension + 24).value
    for k in (0, 4):
        ctypes.c_int.from_address(metadata + 24 + k).value = (
            ctypes.c_int.from_address(api + 32 + k).value if api else k // 4
        )


def _error(api: int, message: str) -> int:
    create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(ctypes.c_int64.from_address(api + 48).value)
    given = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, message.encode(), 13)  # internal
    return int(create(ctypes.addressof(given)) or 0)
