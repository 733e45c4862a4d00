"""Models with named uncertain parameters as linear fractions: what `mussv` and `robstab` work on (`ureal`, `lftdata` in MATLAB)."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.connect import close as close_loop
from articulus.control.connect import select, side_by_side
from articulus.control.plant import Group, as_plant, of_matrices, places
from articulus.control.robust.blocks import Block, BlockStructure
from articulus.control.robust.lft import Fraction, fraction
from articulus.errors import DoubtfulResult, InputError, did_you_mean, doubtful
from articulus.linear import LinearModel

EXACT = 1e-11
"""Relative size below which a coefficient of a fitted polynomial is rounding."""
MOST_DEGREE = 6
CHECKED = 24
"""Points in the box, besides its corners, at which the model is compared with what it stands for."""


@dataclass(frozen=True, eq=False)
class UncertainModel:
    """A linear model whose matrices depend on named parameters: M closed with Delta = diag(delta_i I).

    Parameters
    ----------
    model : LinearModel
        M: its first inputs are those of Delta ("w.<parameter>.<i>"), its first outputs likewise ("z.<parameter>.<i>"); then
        come those of the plant.
    structure : BlockStructure
        Blocks with the names of the parameters; deltas within -1 and 1 are the given ranges. Blocks of `with_dynamics` follow.
    ranges : dict of name to (low, high)
    error : float [-]
        Largest difference from the source at points of the box, over the largest entry of A, B, C or D that it is in.
    """

    model: LinearModel
    structure: BlockStructure
    ranges: Mapping[str, tuple[float, float]]
    error: float = 0.0

    @property
    def repetitions(self) -> dict[str, int]:
        """How often each parameter is repeated in Delta."""
        return {b.name: b.rows for b in self.structure.blocks}

    @property
    def M(self) -> LinearModel:
        """M seen from Delta alone."""
        return select(self.model, range(self.structure.rows), range(self.structure.columns))

    @property
    def nominal(self) -> LinearModel:
        """The plant at the middle of all ranges."""
        return self._plant(self.model)

    def at(self, params: Mapping[str, float] | None = None, **more: float) -> LinearModel:
        """Return the plant for values of the parameters, in their own units; those not given are in the middle."""
        values = {**(params or {}), **more}
        for name in values:
            if name not in self.ranges:
                raise InputError(
                    f"uncertain model: no parameter '{name}'; {did_you_mean(name, list(self.ranges))}"
                )
        delta = np.zeros((self.structure.rows, self.structure.columns))
        row = column = 0
        for block in self.structure.blocks:
            if block.name in self.ranges:
                low, high = self.ranges[block.name]
                value = _to_delta(values.get(block.name, 0.5 * (low + high)), (low, high))
                delta[row : row + block.rows, column : column + block.columns] = value * np.eye(block.rows)
            row, column = row + block.rows, column + block.columns
        return self.closed_with(delta)

    def closed_with(self, delta: np.ndarray) -> LinearModel:
        """Return the plant for a real matrix Delta (rows, columns)."""
        k = self.structure.rows
        w, z = np.arange(k), np.arange(self.structure.columns)
        controller = LinearModel(
            np.zeros((0, 0)), np.zeros((0, len(z))), np.zeros((k, 0)), np.asarray(delta, dtype=float), (),
            self.model.outputs[: len(z)], self.model.inputs[:k], ("-",) * len(z), ("-",) * k,
        )  # fmt: skip
        return self._plant(close_loop(self.model, controller, w, z))

    def close(self, controller: Any) -> UncertainModel:
        """Return the uncertain closed loop with a controller, u = K y: a `Design` or a model with names of the plant's signals."""
        held = as_plant(getattr(controller, "controller", controller), "close")
        u = [_place(self.model.inputs, n, "input") for n in held.outputs]
        y = [_place(self.model.outputs, n, "output") for n in held.inputs]
        return dataclasses.replace(self, model=close_loop(self.model, held, u, y))

    def with_dynamics(
        self, inputs: Group = None, weight: Any = 1.0, name: str = "dynamics"
    ) -> UncertainModel:
        """Return the model with unmodelled dynamics at inputs of the plant: u becomes u + Delta W u, Delta a full block below 1.

        Parameters
        ----------
        inputs : names or number of inputs
            All if not given.
        weight : float or plant with one input and one output
            W: size of the unmodelled part over that of u, as it grows with frequency; the same for each input.
        name : str
            Name of the block.
        """
        k, m, old = self.structure.rows, self.structure.columns, self.model
        u = k + places(old.inputs[k:], inputs, "input", "with_dynamics")
        n = len(u)
        W = side_by_side(*[_weight(weight, old.period)] * n)
        size, more = len(old.A), len(W.A)
        into = np.zeros((n, len(old.inputs)))
        into[np.arange(n), u] = 1.0  # what the weights see
        A = np.block([[old.A, np.zeros((size, more))], [np.zeros((more, size)), W.A]])
        B = np.vstack([old.B, W.B @ into])
        C = np.block([[old.C[:m], np.zeros((m, more))], [np.zeros((n, size)), W.C]])
        C = np.vstack([C, np.hstack([old.C[m:], np.zeros((len(old.C) - m, more))])])
        D = np.vstack([old.D[:m], W.D @ into, old.D[m:]])
        new = np.vstack([old.B[:, u], np.zeros((more, n))])  # past the weights
        passed = np.vstack([old.D[:m, u], np.zeros((n, n)), old.D[m:, u]])
        labels = [f"{name}.{i}" for i in range(n)]
        model = dataclasses.replace(
            old,
            A=A,
            B=np.hstack([B[:, :k], new, B[:, k:]]),
            C=C,
            D=np.hstack([D[:, :k], passed, D[:, k:]]),
            states=(*old.states, *(f"{name}.{x}" for x in W.states)),
            inputs=(*old.inputs[:k], *(f"w.{x}" for x in labels), *old.inputs[k:]),
            outputs=(*old.outputs[:m], *(f"z.{x}" for x in labels), *old.outputs[m:]),
            input_units=(*old.input_units[:k], *("-" for _ in labels), *old.input_units[k:]),
            output_units=(*old.output_units[:m], *("-" for _ in labels), *old.output_units[m:]),
        )
        block = Block(n, n, repeated=n == 1, name=name)
        return dataclasses.replace(
            self, model=model, structure=BlockStructure((*self.structure.blocks, block))
        )

    def _plant(self, model: LinearModel) -> LinearModel:
        k, m = self.structure.rows, self.structure.columns
        return select(model, range(k, len(model.inputs)), range(m, len(model.outputs)))

    def __str__(self) -> str:
        parts = ", ".join(f"{n} x {c}" for n, c in self.repetitions.items())
        return f"{self.model.name or 'uncertain model'}: {parts or 'no parameter has any effect'}; error {self.error:.2g}"


def uncertain(
    source: Any,
    ranges: Mapping[str, tuple[float, float]],
    q: Any = None,
    *,
    degree: int | None = None,
    tolerance: float = 1e-3,
    **linearize: Any,
) -> UncertainModel:
    """Return a model whose named parameters lie anywhere in ranges, as M and Delta with few repetitions.

    The matrices of the linear model (of mechanisms and loops: before the division by the mass matrix, so that masses and
    stiffnesses enter as polynomials) are sampled over the box of the parameters and fitted by polynomials, of the degree that
    each parameter needs; these become a linear fraction by rank factorization (`fraction`). The result is compared with the
    source at other points of the box, its corners included.

    Parameters
    ----------
    source : Mechanism, Loop, or function
        A function takes a dict of parameter name to value and returns a plant (see `as_plant`), for instance `cascade(...)`.
    ranges : dict of name to (low, high)
        Parameters by the names that `params` knows, in their units.
    q : array
        Position about which a mechanism or loop is linearized; a mechanism is held there by joint forces, for each value anew.
    degree : int
        Highest degree in one parameter; found by itself up to 6 if not given. 1 gives the first-order model, with its error.
    tolerance : float [-]
        Largest `error` that is accepted.
    **linearize
        Further arguments of `linearize`: `inputs`, `outputs`, `opened`, `t`, `params` (of other parameters). Outputs of a loop are "q" and "v" if not given;
        accelerations and forces are not polynomials of masses and need more repetitions.
    """
    names = tuple(ranges)
    box = {n: _range(n, r) for n, r in ranges.items()}
    take = _sampler(source, box, q, linearize)
    sample = _Samples(take, names)
    degrees = [sample.degree(i, degree, tolerance) for i in range(len(names))]
    total = sample.total_degree(degrees, tolerance)
    coefficients = sample.fit(degrees, total)
    error, model = np.inf, None
    for accuracy in (EXACT, 1e-9, 1e-7, 1e-5):  # the coarser, the fewer repetitions
        if accuracy > EXACT and accuracy > 0.1 * tolerance:
            break
        found = _assemble(sample, fraction(coefficients, accuracy), names, box)
        off = sample.error(found)
        if model is not None and (off > max(2.0 * error, 1e-9)):
            break
        model, error = found, off
        if error < 1e-10:  # polynomials are exact
            break
    assert model is not None
    if not error <= tolerance:
        raise InputError(
            f"uncertain: the fitted model is off by {error:.3g} of its largest entry somewhere in the box; allowed is tolerance = "
            f"{tolerance:g}. Degrees {dict(zip(names, degrees))} were used; likely the ranges are too wide for polynomials: "
            "narrow them, raise `degree`, or accept a larger tolerance"
        )
    silent = [n for n in names if n not in model.repetitions]
    if silent:
        doubtful(
            f"uncertain: found no effect of {', '.join(silent)} on the linear model; expected one. Is it used at this operating point?"
        )
    return dataclasses.replace(model, error=error)


def _weight(weight: Any, period: float | None) -> LinearModel:
    if np.ndim(weight) == 0 and not hasattr(weight, "ninputs") and not isinstance(weight, LinearModel):
        return of_matrices(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[float(weight)]], period)
    found = as_plant(weight, "with_dynamics")
    if found.D.shape != (1, 1):
        raise InputError(
            f"with_dynamics: found a weight of {found.D.shape[1]} inputs and {found.D.shape[0]} outputs; expected one each"
        )
    return found


def _range(name: str, given: Any) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in given)
    except (TypeError, ValueError):
        raise InputError(f"uncertain: parameter '{name}': found {given!r}; expected (low, high)") from None
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(f"uncertain: parameter '{name}': found ({low:g}, {high:g}); expected low < high")
    return low, high


def _to_delta(value: float, given: tuple[float, float]) -> float:
    return (float(value) - 0.5 * (given[0] + given[1])) / (0.5 * (given[1] - given[0]))


def _place(names: Sequence[str], name: str, kind: str) -> int:
    if name not in names:
        raise InputError(f"uncertain model: no {kind} '{name}'; {did_you_mean(name, list(names))}")
    return names.index(name)


def _sampler(
    source: Any, box: Mapping[str, tuple[float, float]], q: Any, options: Mapping[str, Any]
) -> Callable[[np.ndarray], tuple[LinearModel, np.ndarray]]:
    """Return a function from deltas to the linear model there, and a matrix E: E x' = E A x + E B u is what is fitted."""
    known = getattr(source, "parameters", None)
    for name in box:
        if known is not None and name not in list(known):
            raise InputError(f"uncertain: no parameter '{name}'; {did_you_mean(name, list(known))}")

    def values(delta: np.ndarray) -> dict[str, float]:
        return {
            n: 0.5 * (r[0] + r[1]) + 0.5 * (r[1] - r[0]) * float(d) for (n, r), d in zip(box.items(), delta)
        }

    if hasattr(source, "linearize"):
        return lambda delta: _with_inertia(source, q, values(delta), options)
    if not callable(source):
        raise InputError(
            f"uncertain: found {type(source).__name__}; expected a mechanism, a loop, or a function of a dict of parameters"
        )

    def evaluate(delta: np.ndarray) -> tuple[LinearModel, np.ndarray]:
        try:
            plant = source(values(delta))
        except KeyError as missing:
            name = str(missing.args[0]) if missing.args else "?"
            raise InputError(
                f"uncertain: the function asks for the parameter '{name}'; found ranges of {', '.join(box)}; {did_you_mean(name, list(box))}"
            ) from None
        return _plain(as_plant(plant, "uncertain"))

    return evaluate


def _plain(model: LinearModel) -> tuple[LinearModel, np.ndarray]:
    return model, np.eye(len(model.A))


def _with_inertia(
    source: Any, q: Any, params: dict[str, float], options: Mapping[str, Any]
) -> tuple[LinearModel, np.ndarray]:
    """Return the model and E = diag(I, M, I): E A and E B are polynomials of masses and stiffnesses, where A and B are not."""
    mechanism = getattr(source, "mechanism", source)
    given = dict(options) if mechanism is source else {"outputs": ("q", "v"), **options}
    params = {**(given.pop("params", None) or {}), **params}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = as_plant(source.linearize(q, params=params, **given), "uncertain")
    if any(issubclass(each.category, DoubtfulResult) for each in told):  # one text, told once for all values
        doubtful(
            "uncertain: the mechanism does not rest at this position for all values of the parameters, and its models are not those about "
            "states of rest; expected a position that the commands hold (`trim`), or controllers that do"
        )
    speeds = [model.states.index(f"v.{n}") for n in mechanism.v_names if f"v.{n}" in model.states]
    E = np.eye(len(model.A))
    if model.period is None and not mechanism.constraint_names and len(speeds) == len(mechanism.v_names):
        own = {n: x for n, x in params.items() if n in mechanism.parameters}
        E[np.ix_(speeds, speeds)] = mechanism.mass_matrix(mechanism.positions(q), params=own)
    return model, E


class _Samples:
    """Matrices S = [[E A, E B, E], [C, D, 0]] over the box of deltas, and polynomials fitted to them."""

    def __init__(
        self, take: Callable[[np.ndarray], tuple[LinearModel, np.ndarray]], names: tuple[str, ...]
    ) -> None:
        self._take, self.names = take, names
        self.rng = np.random.default_rng(0)
        self.middle, E = take(np.zeros(len(names)))
        n, m = self.middle.B.shape
        S = self.stack(self.middle, E)
        a, b, c = (np.abs(x).max(initial=0.0) or 1.0 for x in (S[:n, :n], S[:n, n : n + m], S[n:, :n]))
        self.rows = np.concatenate([np.full(n, a), np.full(len(S) - n, c)])
        self.columns = np.concatenate([np.ones(n), np.full(m, b / a), np.full(n, np.abs(E).max() / a)])

    @staticmethod
    def stack(model: LinearModel, E: np.ndarray) -> np.ndarray:
        empty = np.zeros((len(model.C), len(E)))
        return np.block([[E @ model.A, E @ model.B, E], [model.C, model.D, empty]])

    def at(self, delta: np.ndarray) -> tuple[LinearModel, np.ndarray]:
        model, E = self._take(delta)
        if (model.states, model.inputs, model.outputs) != (
            self.middle.states,
            self.middle.inputs,
            self.middle.outputs,
        ):
            raise InputError(
                f"uncertain: the states of the model change with the parameters: found {', '.join(model.states[:6])} and "
                f"{', '.join(self.middle.states[:6])}; expected the same everywhere in the ranges"
            )
        return model, E

    def rescale(self, delta: np.ndarray) -> np.ndarray:
        return self.stack(*self.at(delta)) / np.outer(self.rows, self.columns)

    def along(self, line: Callable[[float], np.ndarray], most: int, tolerance: float) -> int:
        """Return the least degree of a polynomial on a line, up to `most`, that is exact or else well below the tolerance."""
        nodes = np.cos(np.pi * (np.arange(most + 3) + 0.5) / (most + 3))
        values = np.array([self.rescale(line(x)).ravel() for x in nodes])
        off = []
        for degree in range(most + 1):
            V = np.vander(nodes, degree + 1)
            off.append(np.abs(values - V @ np.linalg.lstsq(V, values, rcond=None)[0]).max())
            if off[-1] < 1e-11:
                return degree
        good = [d for d, o in enumerate(off) if o < 0.03 * tolerance]
        return good[0] if good else most

    def degree(self, i: int, most: int | None, tolerance: float) -> int:
        """Return the degree in one parameter, the others at a random place."""
        place = self.rng.uniform(-0.7, 0.7, len(self.names))
        unit = np.eye(len(self.names))[i]
        return self.along(
            lambda x: place * (1 - unit) + x * unit, MOST_DEGREE if most is None else most, tolerance
        )

    def total_degree(self, degrees: Sequence[int], tolerance: float) -> int:
        """Return the total degree: that on a line through the box."""
        slope = self.rng.choice([-1.0, 1.0], len(self.names)) * self.rng.uniform(0.7, 1.0, len(self.names))
        return max(self.along(lambda x: x * slope, min(sum(degrees), 10), tolerance), max(degrees, default=0))

    def fit(self, degrees: Sequence[int], total: int) -> dict[tuple[int, ...], np.ndarray]:
        """Return coefficients of the polynomial with these degrees, by least squares; those of rounding are omitted."""
        exponents = [e for e in itertools.product(*(range(d + 1) for d in degrees)) if sum(e) <= total]
        if len(exponents) > 4000:
            raise InputError(
                f"uncertain: {len(exponents)} coefficients to fit for degrees {list(degrees)}; expected at most 4000: lower `degree`"
            )
        points = self.points(degrees, len(exponents) + max(len(exponents) // 2, 8))
        values = np.array([self.rescale(p).ravel() for p in points])
        V = np.prod(points[:, None, :] ** np.array(exponents)[None], axis=2)
        found = np.linalg.lstsq(V, values, rcond=None)[0]
        found[np.abs(found) < 1e-12 * np.abs(found).max(initial=1.0)] = 0.0
        kept = ((e, c) for e, c in zip(exponents, found) if np.abs(c).max() > 0 or not any(e))
        return {e: c.reshape(len(self.rows), len(self.columns)) for e, c in kept}

    def points(self, degrees: Sequence[int], count: int) -> np.ndarray:
        """Return points to fit at: a grid of Chebyshev nodes if it has no more than `count`, else random ones.

        On the grid what no polynomial follows in one parameter does not leak into products with others, which would cost repetitions.
        """
        if np.prod([d + 1.0 for d in degrees]) > count:
            return np.cos(np.pi * self.rng.uniform(size=(count, len(degrees))))
        nodes = [np.cos(np.pi * (np.arange(d + 1) + 0.5) / (d + 1)) for d in degrees]
        return np.array(list(itertools.product(*nodes)))

    def error(self, model: UncertainModel) -> float:
        """Return the largest difference of an uncertain model from the source at corners and random points."""
        m = len(self.names)
        corners = (
            list(itertools.product((-1.0, 1.0), repeat=m))
            if m <= 4
            else self.rng.choice([-1.0, 1.0], (16, m))
        )
        points = np.vstack([np.array(corners), self.rng.uniform(-1, 1, (CHECKED, m))])
        counts = [model.repetitions.get(n, 0) for n in self.names]
        return max(
            _difference(model.closed_with(np.diag(np.repeat(p, counts))), self.at(p)[0]) for p in points
        )


def _difference(found: LinearModel, exact: LinearModel) -> float:
    """Return the largest difference of matrices over the largest entry of the exact ones; of zeros, over that of all four."""
    off = 0.0
    largest = max(np.abs(getattr(exact, name)).max(initial=0.0) for name in "ABCD")
    for name in "ABCD":
        a, b = getattr(found, name), getattr(exact, name)
        size = np.abs(b).max(initial=0.0) or largest or 1.0
        off = max(off, float(np.abs(a - b).max(initial=0.0) / size))
    return off


def _assemble(
    sample: _Samples, f: Fraction, names: tuple[str, ...], box: Mapping[str, tuple[float, float]]
) -> UncertainModel:
    """Return the model of a fraction of the matrices [[E A, E B, E], [C, D, 0]] over their sizes."""
    middle, (n, m) = sample.middle, sample.middle.B.shape
    S0, L, R = f.S0 * np.outer(sample.rows, sample.columns), sample.rows[:, None] * f.L, f.R * sample.columns
    labels = [f"{name}.{i}" for name, count in zip(names, f.counts) for i in range(count)]
    E, R_E = S0[:n, n + m :], R[:, n + m :]
    A, B, W = (np.linalg.solve(E, x) for x in (S0[:n, :n], S0[:n, n : n + m], L[:n]))
    model = dataclasses.replace(
        middle,
        A=A,
        B=np.hstack([W, B]),
        C=np.vstack([R[:, :n] - R_E @ A, S0[n:, :n]]),
        D=np.block([[f.N - R_E @ W, R[:, n : n + m] - R_E @ B], [L[n:], S0[n:, n : n + m]]]),
        inputs=(*(f"w.{x}" for x in labels), *middle.inputs),
        outputs=(*(f"z.{x}" for x in labels), *middle.outputs),
        input_units=(*("-" for _ in labels), *middle.input_units),
        output_units=(*("-" for _ in labels), *middle.output_units),
    )
    blocks = tuple(Block(c, c, True, True, name) for name, c in zip(names, f.counts) if c)
    return UncertainModel(model, BlockStructure(blocks), dict(box))
