"""`CompiledMechanism`: the quantities of a mechanism as native code: found in the cache or compiled, and called with checks."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from articulus import kernel as native
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.kernel import Kernel
from articulus.kernel.interrupts import heed_interrupts
from articulus.model.mechanism.builder import MechanismBuilder, mapping
from articulus.model.mechanism.named import Named
from articulus.model.mechanism.numbers import as_array

if TYPE_CHECKING:
    import casadi

    from articulus.dynamics.positive_definite import Definite

Array = np.ndarray
Params = Mapping[str, Any]
Wrenches = Mapping[str, Any]


COMPILED = ("_kernels", "_functions", "_doubtful", "_tree", "_cut_from", "_equations")
"""Attributes of a mechanism that hold what was compiled for it."""


class CompiledMechanism(MechanismBuilder, Named):
    """A mechanism whose quantities are answered by kernels; these are made when first asked for and kept until it changes."""

    derived: ClassVar[tuple[str, ...]] = (*MechanismBuilder.derived, *COMPILED)

    def __getstate__(self) -> dict:
        """Leave the compiled kernels behind: another process loads them from the cache."""
        return {name: held for name, held in self.__dict__.items() if name not in COMPILED}

    @property
    def tree(self) -> Self:
        """The mechanism without its constraints, every loop cut: the same bodies, coordinates and parameters, and all methods.

        For a mechanism without constraints it is that mechanism. It is made once and follows changes of the mechanism; whoever
        changes the tree itself has a mechanism of their own from then on.
        """
        found = self.__dict__.get("_tree")
        if found is not None:
            return found
        if not self.description.constraints:
            return self
        self._tree = self.from_description(self.description.unconstrained)
        self._tree._cut_from = self
        return self._tree

    def _forget_derived(self) -> Self:
        if (whole := self.__dict__.get("_cut_from")) is not None:
            whole.__dict__.pop("_tree", None)
        return super()._forget_derived()

    def function(
        self, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
    ) -> casadi.Function:
        """Return a quantity as a CasADi function, for optimization.

        Parameters
        ----------
        name : str
            Name of a method above, such as "forward_dynamics". Where constraints change the answer, ask that of `tree`.
        frames : sequence of str
            Frames that it is about, for example ["tool"] for "pose".
        wrenches : sequence of str
            Frames on which external wrenches act; each adds an input.

        Returns
        -------
        casadi.Function
            Inputs as in the method, then `p` when the mechanism has parameters, then the wrenches. Forward and inverse dynamics
            without wrenches carry their analytic Jacobian, by `p` too: CasADi uses it wherever the function is called on MX symbols.
        """
        from articulus.dynamics import quantities

        self.require_no_constraints(name)
        frames, wrenches = ((x,) if isinstance(x, str) else tuple(x) for x in (frames, wrenches))
        key = (name, frames, wrenches)
        if key not in self._functions:
            with heed_interrupts():
                self._functions[key] = quantities.differentiable(self.description, name, frames, wrenches)
        return self._functions[key]

    def kernel(self, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()) -> Kernel:
        """Return a quantity as a compiled kernel; `kernel.bind(...)` prepares calls for tight loops."""
        frames, wrenches = ((x,) if isinstance(x, str) else tuple(x) for x in (frames, wrenches))
        key = (name, frames, wrenches)
        found = self._kernels.get(key)
        if found is None:
            text = "|".join([physics_version(), self.description.fingerprint, repr(key)])
            found = native.cached(
                text, lambda: self._compilable(*key), ranks=lambda: self._ranks(name, len(wrenches))
            )
            self._kernels[key] = found
        return found

    def require_no_constraints(self, name: str) -> None:
        """Raise InputError for a quantity whose equations would let a closed mechanism fall apart."""
        from articulus.dynamics.quantities import QUANTITIES

        row = QUANTITIES.get(name)
        if row is None or row.constraints == "same" or not self.description.constraints:
            return
        instead = (
            ""
            if row.constraints == "open only"
            else f"the method {name}() of the mechanism, with numbers, or "
        )
        instead = f"'{row.instead}', or " if row.instead else instead
        raise InputError(
            f"'{self.name}' has constraints, which '{name}' does not know; expected {instead}'{name}' of `mechanism.tree`, the "
            "mechanism with every loop cut"
        )

    def _ranks(self, name: str, wrenches: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        from articulus.dynamics.quantities import QUANTITIES

        if name not in QUANTITIES:
            raise InputError(f"no quantity '{name}'; {did_you_mean(name, QUANTITIES)}")
        own = tuple(0 if symbol == "t" else 1 for symbol in QUANTITIES[name].inputs)
        return own + (1,) * (bool(self.description.parameters) + wrenches), QUANTITIES[name].ranks

    def _compilable(self, name: str, *key: Any) -> casadi.Function:
        from articulus.dynamics import quantities

        self.require_no_constraints(name)  # what is refused is never compiled, so that no cache holds it
        return quantities.compilable(self.description, name, *key)

    @functools.cached_property
    def _functions(self) -> dict[tuple, casadi.Function]:
        return {}

    @functools.cached_property
    def _kernels(self) -> dict[tuple, Kernel]:
        return {}

    def _ask(
        self,
        name: str,
        arguments: tuple,
        frames: tuple[str, ...] = (),
        params: Params | None = None,
        wrenches: Wrenches | None = None,
    ) -> Any:
        if self._doubtful:
            self._require_definite(name, arguments[0], params)
        try:
            if not params and not wrenches and not self.description.parameters:
                try:
                    ready = self._kernels.get((name, frames, ()))
                except TypeError:
                    raise InputError(f"{name}: found frames {frames!r}; expected names") from None
                return (ready or self.kernel(name, frames))(*arguments)
            extra = [self._parameter_row(params)] if self.description.parameters or params else []
            acting = {
                frame: self._wrench(frame, w) for frame, w in mapping("wrenches", wrenches or {}).items()
            }
            return self.kernel(name, frames, tuple(acting))(*arguments, *extra, *acting.values())
        except NumericalError:
            self._require_rotations(arguments[0])  # the likeliest reason
            raise
        except InputError:
            if not any(isinstance(x, Mapping) for x in arguments):
                raise
        return self._ask(name, self._arrays(name, arguments), frames, params, wrenches)

    def _arrays(self, name: str, arguments: tuple) -> tuple:
        """Return the arguments of a quantity with arrays in place of dicts of names."""
        from articulus.dynamics.quantities import QUANTITIES

        inputs = QUANTITIES[name].inputs
        return tuple(
            (self.positions if symbol in ("q", "q_end") else self.velocities)(x, symbol)
            if isinstance(x, Mapping)
            else x
            for symbol, x in zip(inputs, arguments)
        )

    @functools.cached_property
    def _doubtful(self) -> Definite | None:
        """What asks whether the mass matrix is positive definite; None where it cannot be otherwise."""
        if not self.description.flexible:
            return None
        from articulus.dynamics.positive_definite import definite  # late: a warm start needs no equations

        asked = definite(self.description)
        return asked if asked.doubtful else None

    def _require_definite(self, name: str, q: Any, params: Params | None) -> None:
        """Raise NumericalError if a quantity needs a mass matrix that is indefinite; wrong shapes are left to the kernel."""
        from articulus.dynamics.quantities import QUANTITIES

        if QUANTITIES[name].kinematic:
            return
        positions = self.positions(q)
        if self._doubtful is None or positions.shape[-1:] != (self.nq,):
            return
        values = self._parameter_row(params) if self.description.parameters else np.zeros(0)
        batch = np.broadcast_shapes(positions.shape[:-1], values.shape[:-1])
        flat = int(np.prod(batch))
        q_rows, p_rows = (
            np.broadcast_to(x, (*batch, x.shape[-1])).reshape(flat, x.shape[-1]) for x in (positions, values)
        )
        bad = self._doubtful.first_bad(q_rows, p_rows)
        if bad is not None:
            raise NumericalError(
                f"'{self.name}', {name}: the mass matrix is not positive definite at row {bad} of q. The inertia integrals "
                "of a flexible body there belong to no distribution of mass; likely a moment of inertia larger than the "
                "sum of the other two, or matrices of a finite-element program; less deflection or the level 'ruthless' "
                "keeps it definite",
                rows=np.array([bad]),
            )

    def _require_rotations(self, q: Any) -> None:
        """Raise InputError for a quaternion of zeros; what is no position at all is left to the kernel's own checks."""
        if not self.description.quaternions:
            return
        try:
            array = np.asarray(self.q(q) if isinstance(q, Mapping) else q, dtype=float)
        except (TypeError, ValueError):
            return
        if array.shape[-1:] == (self.nq,):
            self.description.require_rotations(array)

    def _wrench(self, frame: str, wrench: Any) -> Array:
        self.description.carrier(frame)
        array = argument(f"wrench on '{frame}'", wrench)
        if array.shape[-1:] != (6,):
            raise InputError(f"wrench on '{frame}' has shape {array.shape}; expected (..., 6)")
        return array

    def _parameter_row(self, params: Params | None) -> Array:
        """Return the named parameters as one array (..., parameters)."""
        given = dict(mapping("params", params or {}))
        named = {
            p.name: argument(p.name, given.pop(p.name))
            for p in self.description.parameters
            if p.name in given
        }
        self.description.physical.require(named)
        columns = [
            named[p.name] if p.name in named else np.array(p.value) for p in self.description.parameters
        ]
        if given:
            name = next(iter(given))
            raise InputError(f"no parameter '{name}' in '{self.name}'; {did_you_mean(name, self.parameters)}")
        try:
            return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)
        except ValueError:
            shapes = {p.name: c.shape for p, c in zip(self.description.parameters, columns)}
            raise InputError(f"params: shapes do not broadcast: {shapes}") from None


@functools.cache
def physics_version() -> str:
    """Return a hash of the source files that write equations; a change of any makes cached code stale."""
    return source_digest("spatial", "model/mechanism", "dynamics")


def source_digest(*packages: str) -> str:
    """Return a hash of the source files of some packages."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted((Path(__file__).parents[1] / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def argument(name: str, value: Any) -> Array:
    """Return the argument of a method as an array of floats."""
    return as_array(f"argument '{name}'", value)
