"""A team: threads bound to processors that run lists of prepared calls together, one call of the team after the other.

Every processor has a list and a counter. An entry of a list waits until another processor's counter has come as far as it says, runs a
call, and counts on its own counter where somebody waits for that. Counters only grow: each run of the lists has a version, so that
nothing is reset (Kasahara, Honda & Narita 1989). Waiting is busy, because a thread that sleeps takes longer to wake than most steps
take; after some time without news a waiting thread offers its processor to others.

`run(ptr frame)` reads a frame of 64-bit words: number of the processor, of processors, control words, counters, a function that offers the
processor. Processor 0 runs its list once; another one runs its list whenever processor 0 begins, until it is told to stop.

    control   version, whether to stop, address and length of each list
    counters  of each processor, a cache line: count, flags of its calls
    entry     address of a counter (or 0), count to wait for, address of the code (or 0), its frame, own count afterwards (or 0)
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from ..errors import InputError, KernelError, doubtful
from .build import Source
from .call import PreparedCall
from .jit import versions
from .pool import cores
from .program import Signature
from .target import Target

Place = tuple[int, int]
"""Processor and position in its list."""

SHIFT = 20
"""Counts of a version lie below 2^20."""
DONE = (1 << SHIFT) - 1
"""Count of a processor that has come to the end of its list."""
GONE = -1
"""What `run` returns if the team has no threads (any more)."""
LINE = 16
"""Words between counters: two cache lines, since processors fetch them in pairs."""
ENTRY = 5
"""Words of an entry."""
PATIENCE = 4096
"""Looks at a counter after which a waiting thread offers its processor, again and again."""

PAUSES = (
    ("x86_64", "void @llvm.x86.sse2.pause()"),
    ("aarch64", "void @llvm.aarch64.hint(i32 1)"),
    ("arm64", "void @llvm.aarch64.hint(i32 1)"),
)
"""What a waiting thread does between two looks, by processor; others do nothing."""

TEXT = """
{declared}

define internal void @await(ptr %counter, i64 %count, ptr %offer) nounwind {{
entry:
br label %look
look:
%looks = phi i64 [ 0, %entry ], [ %more, %on ]
%seen = load atomic i64, ptr %counter acquire, align 8
%there = icmp sge i64 %seen, %count
br i1 %there, label %done, label %wait
wait:
{pause}
%more = add i64 %looks, 1
%rest = urem i64 %more, {patience}
%long = icmp eq i64 %rest, 0
br i1 %long, label %give, label %on
give:
%ignored = call i32 %offer()
br label %on
on:
br label %look
done:
ret void
}}

define internal i64 @list(ptr %entries, i64 %count, i64 %base, ptr %own, ptr %offer) nounwind {{
entry:
%end = getelementptr inbounds i64, ptr %entries, i64 %count
%none = icmp eq i64 %count, 0
br i1 %none, label %done, label %next
next:
%at = phi ptr [ %entries, %entry ], [ %following, %counted ]
%flags = phi i64 [ 0, %entry ], [ %flagged, %counted ]
%counter = load ptr, ptr %at, align 8
%free = icmp eq ptr %counter, null
br i1 %free, label %go, label %hold
hold:
%atcount = getelementptr inbounds i64, ptr %at, i64 1
%offset = load i64, ptr %atcount, align 8
%awaited = add i64 %base, %offset
call void @await(ptr %counter, i64 %awaited, ptr %offer)
br label %go
go:
%atcode = getelementptr inbounds i64, ptr %at, i64 2
%code = load ptr, ptr %atcode, align 8
%idle = icmp eq ptr %code, null
br i1 %idle, label %ran, label %work
work:
%atframe = getelementptr inbounds i64, ptr %at, i64 3
%frame = load ptr, ptr %atframe, align 8
%found = call i64 %code(ptr %frame)
br label %ran
ran:
%told = phi i64 [ 0, %go ], [ %found, %work ]
%flagged = or i64 %flags, %told
%atown = getelementptr inbounds i64, ptr %at, i64 4
%step = load i64, ptr %atown, align 8
%silent = icmp eq i64 %step, 0
br i1 %silent, label %counted, label %tell
tell:
%reached = add i64 %base, %step
store atomic i64 %reached, ptr %own release, align 8
br label %counted
counted:
%following = getelementptr inbounds i64, ptr %at, i64 {entry}
%more = icmp ult ptr %following, %end
br i1 %more, label %next, label %done
done:
%all = phi i64 [ 0, %entry ], [ %flagged, %counted ]
ret i64 %all
}}

define i64 @run(ptr %words) {{
entry:
%processor = load i64, ptr %words, align 8
%a1 = getelementptr inbounds i64, ptr %words, i64 1
%processors = load i64, ptr %a1, align 8
%a2 = getelementptr inbounds i64, ptr %words, i64 2
%control = load ptr, ptr %a2, align 8
%a3 = getelementptr inbounds i64, ptr %words, i64 3
%counters = load ptr, ptr %a3, align 8
%a4 = getelementptr inbounds i64, ptr %words, i64 4
%offer = load ptr, ptr %a4, align 8
%line = mul i64 %processor, {line}
%own = getelementptr inbounds i64, ptr %counters, i64 %line
%atstop = getelementptr inbounds i64, ptr %control, i64 1
%pair = mul i64 %processor, 2
%atlist = getelementptr inbounds i64, ptr %control, i64 2
%mylist = getelementptr inbounds i64, ptr %atlist, i64 %pair
%mycount = getelementptr inbounds i64, ptr %mylist, i64 1
%before = load atomic i64, ptr %control acquire, align 8
%first = add i64 %before, 1
%leads = icmp eq i64 %processor, 0
br i1 %leads, label %lead, label %here

lead:
%gone = load atomic i64, ptr %atstop acquire, align 8
%over = icmp ne i64 %gone, 0
br i1 %over, label %nobody, label %begin
nobody:
ret i64 {gone}
begin:
%ledbase = shl i64 %first, {shift}
%alone = icmp eq i64 %processors, 1
br i1 %alone, label %led, label %wake
wake:
store atomic i64 %first, ptr %control release, align 8
br label %led
led:
%ledlist = load ptr, ptr %mylist, align 8
%ledcount = load i64, ptr %mycount, align 8
%ledflags = call i64 @list(ptr %ledlist, i64 %ledcount, i64 %ledbase, ptr %own, ptr %offer)
%end = add i64 %ledbase, {done}
br label %join
join:
%p = phi i64 [ 1, %led ], [ %q, %joined ]
%flags = phi i64 [ %ledflags, %led ], [ %gathered, %joined ]
%left = icmp slt i64 %p, %processors
br i1 %left, label %joined, label %finish
joined:
%theirs = mul i64 %p, {line}
%counter = getelementptr inbounds i64, ptr %counters, i64 %theirs
call void @await(ptr %counter, i64 %end, ptr %offer)
%atflags = getelementptr inbounds i64, ptr %counter, i64 1
%told = load i64, ptr %atflags, align 8
%gathered = or i64 %flags, %told
%q = add i64 %p, 1
br label %join
finish:
ret i64 %flags

here:
%present = shl i64 %before, {shift}
%isthere = add i64 %present, {done}
store atomic i64 %isthere, ptr %own release, align 8
br label %sleep
sleep:
%version = phi i64 [ %first, %here ], [ %later, %served ]
call void @await(ptr %control, i64 %version, ptr %offer)
%stop = load atomic i64, ptr %atstop acquire, align 8
%stopped = icmp ne i64 %stop, 0
br i1 %stopped, label %home, label %serve
serve:
%base = shl i64 %version, {shift}
%list = load ptr, ptr %mylist, align 8
%count = load i64, ptr %mycount, align 8
%myflags = call i64 @list(ptr %list, i64 %count, i64 %base, ptr %own, ptr %offer)
%tellflags = getelementptr inbounds i64, ptr %own, i64 1
store i64 %myflags, ptr %tellflags, align 8
%finished = add i64 %base, {done}
store atomic i64 %finished, ptr %own release, align 8
br label %served
served:
%later = add i64 %version, 1
br label %sleep
home:
ret i64 0
}}

@slots = constant i64 0
"""


@dataclass(frozen=True)
class _Runner:
    """The code that runs lists, as text; the same for all."""

    @property
    def signature(self) -> Signature:
        """Names, shapes, size."""
        return Signature("team", (), (), (), (), 0, 0)

    def text(self, target: Target) -> str:
        """Return the LLVM text of the module."""
        pause = next((text for kind, text in PAUSES if versions()["triple"].startswith(kind)), "")
        return TEXT.format(
            declared=f"declare {pause.replace('i32 1', 'i32')}" if pause else "",
            pause=f"call {pause}" if pause else "",
            patience=PATIENCE, entry=ENTRY, line=LINE, shift=SHIFT, done=DONE, gone=GONE,
        )  # fmt: skip


@cache
def _runner() -> Source:
    return Source("team", _Runner)


class Team:
    """Threads on processors of their own, which wait busily for lists of calls as long as a `with` block lasts.

    The thread that enters the block is the first of the team; no other thread runs calls of the team. All are bound to a processor each.

    Parameters
    ----------
    size : int
        Processors, this thread's among them. Where fewer may be used the team is this thread alone, with a warning, and runs everything one
        after another.

    Attributes
    ----------
    size : int
        Threads, this one among them.
    """

    def __init__(self, size: int = 2):
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise InputError(f"team of {size!r} processors; expected a whole number, 1 or more")
        found = cores()
        if size > found:
            doubtful(
                f"a team of {size} processors where this process may use {found}: everything runs in one thread, one call after another"
            )
        self.size = int(size) if size <= found else 1
        self._control = _words(2 + 2 * self.size)
        self._control[1] = -GONE
        self._counters = _words(LINE * self.size)
        self._before: set[int] | None = None
        self._last: TeamCall | None = None
        self._threads: list[threading.Thread] = []
        self._native = _runner().native(1)
        places = self._control.ctypes.data, self._counters.ctypes.data, _offer()
        self._frames = [_words(5, k, self.size, *places) for k in range(self.size)]
        self._alone = _words(5, 0, 1, *places)

    def __enter__(self) -> Team:
        if self._threads or not self._control[1]:
            raise KernelError("the team is at work already; expected one `with` block at a time")
        processors = _processors()
        self._counters[::LINE] = -1
        self._control[1] = 0
        self._before = _bind(processors[:1])
        self._threads = [
            threading.Thread(target=self._serve, args=(k, processors[k : k + 1]), name=f"articulus team {k}", daemon=True)
            for k in range(1, self.size)
        ]  # fmt: skip
        for thread in self._threads:
            thread.start()
        while (self._counters[LINE::LINE] < 0).any():
            time.sleep(1e-5)
        _teams.add(self)
        return self

    def _serve(self, k: int, processors: list[int]) -> None:
        _bind(processors)
        self._native.run(self._frames[k].ctypes.data)

    def __exit__(self, *reason: object) -> None:
        _teams.discard(self)
        self._control[1] = -GONE
        self._control[0] += 1
        for thread in self._threads:
            thread.join()
        self._threads = []
        if self._before:
            _bind(sorted(self._before))

    def bind(self, lists: Sequence[Sequence[PreparedCall]], waits: Sequence[tuple[Place, Place]]) -> TeamCall:
        """Return a call that runs lists of prepared calls, one for each processor, at the same time.

        Parameters
        ----------
        lists : sequence of sequence of PreparedCall
            Not more than processors; a team of one runs them one after another.
        waits : sequence of (producer, consumer)
            Each a processor and a position in its list: the consumer does not begin before the producer is done.
        """
        given = [list(calls) for calls in lists]
        order = _order(given, waits)
        if self.size == 1:
            given, waits = [[given[p][i] for p, i in order]], ()
        if len(given) > self.size:
            raise InputError(
                f"team of {self.size}: found {len(given)} lists; expected one for each processor"
            )
        given += [[] for _ in range(self.size - len(given))]
        return TeamCall(self, given, [self._entries(p, calls, waits) for p, calls in enumerate(given)])

    def _entries(
        self, processor: int, calls: list[PreparedCall], waits: Sequence[tuple[Place, Place]]
    ) -> np.ndarray:
        """Return the list of a processor as words."""
        asked: dict[int, list[Place]] = {}
        for producer, (p, i) in waits:
            if p == processor and producer[0] != p:
                asked.setdefault(i, []).append(producer)
        told = {i for (p, i), consumer in waits if p == processor and consumer[0] != p}
        rows: list[tuple[int, int, int, int, int]] = []
        for i, call in enumerate(calls):
            *before, last = [(self._counter(p), j + 1) for p, j in asked.get(i, ())] or [(0, 0)]
            rows += [(*place, 0, 0, 0) for place in before]
            native, frame = call.keep[0], call.args[0]  # type: ignore[attr-defined]
            rows.append((*last, native.address, frame, i + 1 if i in told else 0))
        return _words(ENTRY * len(rows), *(word for row in rows for word in row))

    def _counter(self, processor: int) -> int:
        return int(self._counters.ctypes.data) + 8 * LINE * processor


class TeamCall:
    """A call without arguments that a team makes together; returns the status flags (0 is good).

    Results do not depend on the number of processors. Outside the `with` block of the team it raises.
    """

    def __init__(self, team: Team, calls: list[list[PreparedCall]], tables: list[np.ndarray]):
        self.team, self.calls = team, calls
        self._tables = tables
        self._words = _words(2 * len(tables), *(w for t in tables for w in (t.ctypes.data, len(t))))
        self._lists = team._control[2:]
        self._run = team._native.run_holding_lock
        self._frame = (team._frames[0] if any(map(len, tables[1:])) else team._alone).ctypes.data

    def __call__(self) -> int:
        if self.team._last is not self:
            self._lists[:] = self._words
            self.team._last = self
        flags = self._run(self._frame)
        if flags == GONE:
            raise KernelError(
                "the team is not at work; call within its `with` block, in the process that entered it"
            )
        return int(flags)


def _words(count: int, *values: int) -> np.ndarray:
    """Return 64-bit words at the beginning of a cache line, the first of them given."""
    raw = np.zeros(count + 16, np.int64)
    skip = (-raw.ctypes.data // 8) % 16
    out = raw[skip : skip + count]
    out[: len(values)] = values
    return out


def _order(lists: list[list[PreparedCall]], waits: Sequence[tuple[Place, Place]]) -> list[Place]:
    """Return all places in an order in which they can run; raise where processors would wait for each other for ever."""
    asked: dict[Place, list[Place]] = {}
    for producer, consumer in waits:
        for p, i in (producer, consumer):
            if not (0 <= p < len(lists) and 0 <= i < len(lists[p])):
                raise InputError(
                    f"wait {producer} -> {consumer}: there is no place {i} in the list of processor {p}"
                )
        asked.setdefault(consumer, []).append(producer)
    done, out = [0] * len(lists), []  # type: list[int], list[Place]
    while True:
        before = len(out)
        for p, calls in enumerate(lists):
            while done[p] < len(calls) and all(i < done[q] for q, i in asked.get((p, done[p]), ())):
                out.append((p, done[p]))
                done[p] += 1
        if len(out) == before:
            break
    stuck = [(p, i) for p, i in enumerate(done) if i < len(lists[p])]
    if stuck:
        p, i = stuck[0]
        raise InputError(
            f"processor {p} would wait at place {i} of its list for ever: the waits have a cycle"
        )
    if any(len(calls) >= DONE for calls in lists):
        raise InputError(f"a list of {max(map(len, lists))} calls; expected fewer than {DONE}")
    return out


def _processors() -> list[int]:
    """Return the processors of this thread, those first that get fewer interrupts."""
    try:
        return sorted(os.sched_getaffinity(0), reverse=True)
    except AttributeError:
        return []


def _bind(processors: list[int]) -> set[int] | None:
    """Bind this thread to processors; return those before, None where the system binds no threads."""
    try:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, processors)
    except (AttributeError, OSError):
        return None
    return before


@cache
def _offer() -> int:
    """Return the address of the function of the system that offers the processor to other threads."""
    windows = sys.platform == "win32"
    library: Any = ctypes.CDLL("kernel32" if windows else None)
    function = library.SwitchToThread if windows else library.sched_yield
    return cast(int, ctypes.cast(function, ctypes.c_void_p).value)


_teams: weakref.WeakSet[Team] = weakref.WeakSet()


def _after_fork() -> None:
    """Threads do not survive a fork: calls of the parent's teams raise in the child."""
    for team in _teams:
        team._control[1] = -GONE
        team._threads = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
