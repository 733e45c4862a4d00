"""Trapezoidal steps of many values, corrected until they change no more, by several threads that keep in step.

A step finds `new` from `now` by new = now + dt rate((now + new) / 2): the mean is extrapolated, then new values and with them another mean
come of a bound call, again and again. Two means take turns: one is read, by all threads, and the other written, by each thread its own rows.
All of this, for many steps, is one native call per thread. After each round a thread adds one to a counter and waits until all have; the largest changes that
the threads have left are then the same for all of them, and all decide alike. A thread that waits long returns, gives the processor to others
and calls again.

`run(ptr frame)` reads and writes a frame of 64-bit words, see `WORDS`. It returns the number of corrections, or one of the codes below.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from articulus.kernel.arrays import address
from articulus.kernel.build import Source
from articulus.kernel.call import PreparedCall
from articulus.kernel.jit import Native
from articulus.kernel.program import Signature
from articulus.kernel.target import Target

WAITING, LOST, ENDED = 0, -1, -2
"""Call again; no convergence; ended by another thread."""
SPINS = 20_000
"""Looks at the counter before a thread gives the processor to others."""
MAGNITUDE = 2**63 - 1
"""Bits of a double without its sign: numbers without sign are ordered as these, infinity and NaN last."""

WORDS = (
    "team", "me", "counter", "ended", "sizes", "changes",  # threads, number of this one, shared words
    "most", "tolerance", "steps", "times", "t",  # of the steps
    "step", "round", "turn", "arrivals", "total", "waiting",  # how far they are
    "rows", "now", "new", "change", "mask",  # arrays from the first row of the thread on
    "rows0", "rows1", "mean0", "mean1",  # the two means, from its first row and from their beginning on
    "code", "frame0", "frame1",  # the bound calls that read the first or the second mean
    "befores", "before", "extra", "after",  # sums made of the mean before the call, and of the written mean after it
)  # fmt: skip
SUMS = ("count", "starts", "columns", "values", "places")


class Sums:
    """Sums y[places[i]] = sum of values[k] x[columns[k]] over row i of a sparse matrix.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
    places : array of int, (rows,)
    """

    def __init__(self, matrix: Any, places: np.ndarray):
        self._arrays = (
            np.ascontiguousarray(matrix.indptr, dtype=np.int32),
            np.ascontiguousarray(matrix.indices, dtype=np.int32),
            np.ascontiguousarray(matrix.data, dtype=float),
            np.ascontiguousarray(places, dtype=np.int64),
        )
        self.words = [len(places), *(_address(each) for each in self._arrays)]


@dataclass(frozen=True, eq=False)
class ThreadShare:
    """What one thread does: its rows of arrays that all threads share.

    Parameters
    ----------
    rows : slice
        Of the flat arrays `now`, `new` and of the means.
    change : array, (rows,)
        Change of the new values, written by the calls.
    counts : array of bool, (rows,)
        Rows whose changes and values count.
    t : array, ()
        The time that the calls read.
    calls : two PreparedCall
        They read one of the means and `now`, and write `new`, `change` and the other mean.
    after : Sums
        Of the mean that was written, into itself.
    """

    rows: slice
    change: np.ndarray
    counts: np.ndarray
    t: np.ndarray
    calls: tuple[PreparedCall, PreparedCall]
    after: Sums


class Corrections:
    """Steps on arrays that stay where they are.

    Parameters
    ----------
    now, new : array
        Values at the beginning of the last step, and at its end; equal before the first step.
    means : two arrays
    extra : array
        Written before each call by sums of the mean that it reads.
    parts : sequence of ThreadShare
        One for each thread.
    most : int
        Corrections of a step after which it counts as not converging.
    """

    def __init__(
        self,
        now: np.ndarray,
        new: np.ndarray,
        means: tuple[np.ndarray, np.ndarray],
        extra: np.ndarray,
        parts: Sequence[ThreadShare],
        most: int,
    ):
        self._native, team = _native(), len(parts)
        self._shared = np.zeros(2 + 3 * team, np.int64)
        shared = _address(self._shared)
        self._frames, self._keep = list[np.ndarray](), list[Any]([now, new, means, extra, parts])
        self._before = list[Any]([None] * team)
        for me, part in enumerate(parts):
            mask = np.where(part.counts, MAGNITUDE, 0)
            after = np.array(part.after.words)
            self._keep += [mask, after]
            native = part.calls[0].keep[0]  # type: ignore[attr-defined]
            first = 8 * part.rows.start
            values = {
                "team": team, "me": me, "counter": shared, "ended": shared + 8, "sizes": shared + 16, "changes": shared + 16 + 8 * team,
                "most": most, "rows": len(mask), "now": _address(now) + first, "new": _address(new) + first,
                "change": _address(part.change), "mask": _address(mask), "t": _address(part.t),
                "rows0": _address(means[0]) + first, "rows1": _address(means[1]) + first,
                "mean0": _address(means[0]), "mean1": _address(means[1]),
                "code": native.address, "frame0": part.calls[0].args[0], "frame1": part.calls[1].args[0],
                "extra": _address(extra) if extra.size else 0, "after": _address(after),
            }  # fmt: skip
            self._frames.append(np.array([values.get(name, 0) for name in WORDS]))

    def before(self, parts: Sequence[Sequence[Sums]]) -> None:
        """Set the sums that each thread makes of the mean before its call."""
        for k, sums in enumerate(parts):
            words = np.array([each.words for each in sums], np.int64)
            self._before[k] = (words, sums)
            self._set(k, befores=len(sums), before=_address(words) if len(sums) else 0)

    def run(self, times: np.ndarray, tolerance: float, executor: Executor) -> int | None:
        """Take a step for each of the times; return the number of corrections in all, none if those of a step do not converge.

        Parameters
        ----------
        times : array
            What the calls of each step read as their time.
        tolerance : float
            Largest change by the last correction, over the largest value.
        executor : Executor
            With a free thread for each part but the first.
        """
        bits = struct.unpack("<q", struct.pack("<d", tolerance))[0]
        given = np.array(times, dtype=float)
        self._shared[:] = 0
        for k in range(len(self._frames)):
            self._set(k, tolerance=bits, steps=len(given), times=_address(given))
            self._set(k, step=0, round=0, arrivals=0, total=0, waiting=0)
        others = list[Future[int]]()
        try:
            others += (executor.submit(self._member, k) for k in range(1, len(self._frames)))
            found = self._member(0)
        except BaseException:
            self._shared[1] = 1  # nobody waits for a thread that is gone
            wait(others)
            raise
        wait(others)
        return None if found == LOST else found

    def _member(self, k: int) -> int:
        frame = _address(self._frames[k])
        while (code := int(self._native.run(frame))) == WAITING:
            _give_way()
        return code

    def _set(self, k: int, **words: int) -> None:
        for name, value in words.items():
            self._frames[k][WORDS.index(name)] = value


def _give_way() -> None:
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)


def _address(array: np.ndarray) -> int:
    return address(array) if array.size else 0


@cache
def _native() -> Native:
    text = _text()
    return Source(text, _Text).native(1)


class _Text:
    """The module, for `Source`."""

    signature = Signature("corrections", (), (), (), (), 0, 0)

    def text(self, target: Target) -> str:
        """Return the LLVM text."""
        return _text()


def _loads(pointer: str, names: Sequence[str]) -> str:
    lines = []
    for k, name in enumerate(names):
        lines.append(f"%at.{name} = getelementptr i64, ptr %{pointer}, i64 {k}")
        lines.append(f"%{name} = load i64, ptr %at.{name}")
    return "\n".join(lines)


def _pointers(*names: str) -> str:
    return "\n".join(f"%p.{name} = inttoptr i64 %{name} to ptr" for name in names)


def _text() -> str:
    """Return the LLVM text of the module. No rounding may change: products and sums are not fused."""
    return "\n".join([_SUMS, _LARGEST, _MEAN, _ALL, _RUN]).replace("\n\n", "\n")


_SUMS = f"""
@slots = constant i64 0

define internal void @sums(ptr %m, ptr %x, ptr %y) nounwind {{
entry:
{_loads("m", SUMS)}
{_pointers("starts", "columns", "values", "places")}
%some = icmp sgt i64 %count, 0
br i1 %some, label %row, label %done
row:
%i = phi i64 [ 0, %entry ], [ %i1, %next ]
%at.a = getelementptr i32, ptr %p.starts, i64 %i
%at.b = getelementptr i32, ptr %at.a, i64 1
%a32 = load i32, ptr %at.a
%b32 = load i32, ptr %at.b
%a = sext i32 %a32 to i64
%b = sext i32 %b32 to i64
%any = icmp slt i64 %a, %b
br i1 %any, label %term, label %next
term:
%k = phi i64 [ %a, %row ], [ %k1, %term ]
%sum = phi double [ 0.0, %row ], [ %sum1, %term ]
%at.c = getelementptr i32, ptr %p.columns, i64 %k
%c32 = load i32, ptr %at.c
%c = sext i32 %c32 to i64
%at.v = getelementptr double, ptr %p.values, i64 %k
%v = load double, ptr %at.v
%at.x = getelementptr double, ptr %x, i64 %c
%xc = load double, ptr %at.x
%product = fmul double %v, %xc
%sum1 = fadd double %sum, %product
%k1 = add i64 %k, 1
%more = icmp slt i64 %k1, %b
br i1 %more, label %term, label %next
next:
%total = phi double [ 0.0, %row ], [ %sum1, %term ]
%at.p = getelementptr i64, ptr %p.places, i64 %i
%p = load i64, ptr %at.p
%at.y = getelementptr double, ptr %y, i64 %p
store double %total, ptr %at.y
%i1 = add i64 %i, 1
%again = icmp slt i64 %i1, %count
br i1 %again, label %row, label %done
done:
ret void
}}
"""

_LARGEST = """
declare <8 x i64> @llvm.umax.v8i64(<8 x i64>, <8 x i64>)
declare i64 @llvm.vector.reduce.umax.v8i64(<8 x i64>)
declare i64 @llvm.umax.i64(i64, i64)

define internal i64 @largest(i64 %rows, ptr %x, ptr %mask) nounwind {
entry:
%whole = and i64 %rows, -8
%some = icmp sgt i64 %whole, 0
br i1 %some, label %eight, label %rest
eight:
%i = phi i64 [ 0, %entry ], [ %i8, %eight ]
%peak = phi <8 x i64> [ zeroinitializer, %entry ], [ %peak1, %eight ]
%at.x8 = getelementptr i64, ptr %x, i64 %i
%at.m8 = getelementptr i64, ptr %mask, i64 %i
%x8 = load <8 x i64>, ptr %at.x8, align 8
%m8 = load <8 x i64>, ptr %at.m8, align 8
%own8 = and <8 x i64> %x8, %m8
%peak1 = call <8 x i64> @llvm.umax.v8i64(<8 x i64> %peak, <8 x i64> %own8)
%i8 = add i64 %i, 8
%more8 = icmp slt i64 %i8, %whole
br i1 %more8, label %eight, label %between
between:
%highest = call i64 @llvm.vector.reduce.umax.v8i64(<8 x i64> %peak1)
br label %rest
rest:
%from = phi i64 [ 0, %entry ], [ %highest, %between ]
%left = icmp slt i64 %whole, %rows
br i1 %left, label %one, label %done
one:
%j = phi i64 [ %whole, %rest ], [ %j1, %one ]
%top = phi i64 [ %from, %rest ], [ %top1, %one ]
%at.x = getelementptr i64, ptr %x, i64 %j
%at.m = getelementptr i64, ptr %mask, i64 %j
%xj = load i64, ptr %at.x
%mj = load i64, ptr %at.m
%own = and i64 %xj, %mj
%top1 = call i64 @llvm.umax.i64(i64 %top, i64 %own)
%j1 = add i64 %j, 1
%more = icmp slt i64 %j1, %rows
br i1 %more, label %one, label %done
done:
%found = phi i64 [ %from, %rest ], [ %top1, %one ]
ret i64 %found
}
"""
"""Largest magnitude in rows that count, as bits."""

_MEAN = """
define internal void @extrapolate(i64 %rows, ptr %now, ptr %new, ptr %mean) nounwind {
entry:
br label %row
row:
%i = phi i64 [ 0, %entry ], [ %i1, %row ]
%at.now = getelementptr double, ptr %now, i64 %i
%at.new = getelementptr double, ptr %new, i64 %i
%at.mean = getelementptr double, ptr %mean, i64 %i
%last = load double, ptr %at.now
%value = load double, ptr %at.new
%a = fmul double %value, 1.5
%b = fmul double %last, 0.5
%ahead = fsub double %a, %b
store double %ahead, ptr %at.mean
store double %value, ptr %at.now
%i1 = add i64 %i, 1
%more = icmp slt i64 %i1, %rows
br i1 %more, label %row, label %done
done:
ret void
}
"""
"""The new values become those of now; the mean half a step ahead follows the last step."""

_ALL = """
define internal i64 @highest(i64 %team, ptr %words) nounwind {
entry:
br label %each
each:
%i = phi i64 [ 0, %entry ], [ %i1, %each ]
%top = phi i64 [ 0, %entry ], [ %top1, %each ]
%at = getelementptr i64, ptr %words, i64 %i
%word = load i64, ptr %at
%top1 = call i64 @llvm.umax.i64(i64 %top, i64 %word)
%i1 = add i64 %i, 1
%more = icmp slt i64 %i1, %team
br i1 %more, label %each, label %done
done:
ret i64 %top1
}
"""
"""Largest of the words that the threads have left."""

_RUN = f"""
define i64 @run(ptr %frame) nounwind {{
entry:
{_loads("frame", WORDS)}
{_pointers("counter", "ended", "sizes", "changes", "times", "t", "now", "new", "change", "mask", "code", "extra", "before", "after")}
%size.own = getelementptr i64, ptr %p.sizes, i64 %me
%resumed = icmp ne i64 %waiting, 0
br i1 %resumed, label %wait, label %work

work:
%round.work = load i64, ptr %at.round
%turn.work = load i64, ptr %at.turn
%odd = icmp ne i64 %turn.work, 0
%read.word = select i1 %odd, i64 %mean1, i64 %mean0
%written.word = select i1 %odd, i64 %mean0, i64 %mean1
%rows.word = select i1 %odd, i64 %rows1, i64 %rows0
%call.word = select i1 %odd, i64 %frame1, i64 %frame0
%read = inttoptr i64 %read.word to ptr
%written = inttoptr i64 %written.word to ptr
%first = icmp eq i64 %round.work, 0
br i1 %first, label %begin, label %sums

begin:
%step.begin = load i64, ptr %at.step
%at.time = getelementptr double, ptr %p.times, i64 %step.begin
%time = load double, ptr %at.time
store double %time, ptr %p.t
%read.rows = inttoptr i64 %rows.word to ptr
call void @extrapolate(i64 %rows, ptr %p.now, ptr %p.new, ptr %read.rows)
call void @sums(ptr %p.after, ptr %read, ptr %read)
br label %arrive

sums:
%some = icmp sgt i64 %befores, 0
br i1 %some, label %sum, label %correct
sum:
%s = phi i64 [ 0, %sums ], [ %s1, %sum ]
%s.words = mul i64 %s, {len(SUMS)}
%matrix = getelementptr i64, ptr %p.before, i64 %s.words
call void @sums(ptr %matrix, ptr %read, ptr %p.extra)
%s1 = add i64 %s, 1
%s.more = icmp slt i64 %s1, %befores
br i1 %s.more, label %sum, label %correct

correct:
%call = inttoptr i64 %call.word to ptr
%flags = call i64 %p.code(ptr %call)
call void @sums(ptr %p.after, ptr %written, ptr %written)
%changed = call i64 @largest(i64 %rows, ptr %p.change, ptr %p.mask)
%parity = and i64 %round.work, 1
%offset = mul i64 %parity, %team
%place = add i64 %offset, %me
%change.own = getelementptr i64, ptr %p.changes, i64 %place
store i64 %changed, ptr %change.own
%turn.other = sub i64 1, %turn.work
store i64 %turn.other, ptr %at.turn
%predicted = icmp eq i64 %round.work, 1
br i1 %predicted, label %measure, label %arrive
measure:
%size = call i64 @largest(i64 %rows, ptr %p.new, ptr %p.mask)
store i64 %size, ptr %size.own
br label %arrive

arrive:
%arrivals.before = load i64, ptr %at.arrivals
%arrivals.now = add i64 %arrivals.before, 1
store i64 %arrivals.now, ptr %at.arrivals
%counted = atomicrmw add ptr %p.counter, i64 1 seq_cst
br label %wait

wait:
%arrivals.wait = load i64, ptr %at.arrivals
%wanted = mul i64 %arrivals.wait, %team
br label %look
look:
%spins = phi i64 [ 0, %wait ], [ %spins1, %patience ]
%arrived = load atomic i64, ptr %p.counter seq_cst, align 8
%all = icmp sge i64 %arrived, %wanted
br i1 %all, label %decide, label %alone
alone:
%over = load atomic i64, ptr %p.ended seq_cst, align 8
%gone = icmp ne i64 %over, 0
br i1 %gone, label %leave, label %patience
leave:
ret i64 {ENDED}
patience:
%spins1 = add i64 %spins, 1
%tired = icmp sge i64 %spins1, {SPINS}
br i1 %tired, label %pause, label %look
pause:
store i64 1, ptr %at.waiting
ret i64 {WAITING}

decide:
%round.now = load i64, ptr %at.round
%correction = icmp sge i64 %round.now, 2
br i1 %correction, label %judge, label %onward
judge:
%parity.now = and i64 %round.now, 1
%offset.now = mul i64 %parity.now, %team
%changes.now = getelementptr i64, ptr %p.changes, i64 %offset.now
%change.bits = call i64 @highest(i64 %team, ptr %changes.now)
%size.bits = call i64 @highest(i64 %team, ptr %p.sizes)
%change.value = bitcast i64 %change.bits to double
%size.value = bitcast i64 %size.bits to double
%tolerance.value = bitcast i64 %tolerance to double
%limit = fmul double %tolerance.value, %size.value
%corrections = sub i64 %round.now, 1
%finite = icmp ult i64 %change.bits, {0x7FF << 52}
br i1 %finite, label %compare, label %lost
compare:
%near = fcmp ole double %change.value, %limit
br i1 %near, label %reached, label %again
again:
%last = icmp sge i64 %corrections, %most
br i1 %last, label %lost, label %onward
lost:
ret i64 {LOST}
onward:
%round.next = add i64 %round.now, 1
store i64 %round.next, ptr %at.round
br label %work

reached:
%total.before = load i64, ptr %at.total
%total.now = add i64 %total.before, %corrections
store i64 %total.now, ptr %at.total
%step.before = load i64, ptr %at.step
%step.next = add i64 %step.before, 1
store i64 %step.next, ptr %at.step
store i64 0, ptr %at.round
%steps.left = icmp slt i64 %step.next, %steps
br i1 %steps.left, label %work, label %finish
finish:
ret i64 %total.now
}}
"""
