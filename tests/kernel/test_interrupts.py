"""Ctrl-C ends the writing of equations, although CasADi loses the exceptions of Python code that it calls."""

import signal
import subprocess
import sys
import threading

import pytest

from articulus.kernel.interrupts import heed_interrupts

CHILD = """
import os, signal, subprocess, sys
import articulus as art

before = signal.getsignal(signal.SIGINT)
for wait in sys.argv[1:]:
    chains = [art.load("pendulum_chain", n=n) for n in range(50, 61)]
    sender = subprocess.Popen(["sh", "-c", f"sleep {wait}; kill -INT {os.getpid()}"])
    try:
        while sender.poll() is None:
            for chain in chains:
                chain._functions.clear()
                chain.function("forward_dynamics")
        print("lost")
    except KeyboardInterrupt:
        print("told")
    assert signal.getsignal(signal.SIGINT) is before
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_no_interrupt_is_lost_while_equations_are_written() -> None:
    """Each ends the round of eleven chains in which it comes; some of them did not."""
    command = [sys.executable, "-c", CHILD, "0.2", "0.45", "0.7", "0.95"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["told"] * 4, done.stderr


def _send() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_handler_of_before_is_called_once_and_comes_back() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    mine = signal.getsignal(signal.SIGINT)
    try:
        with heed_interrupts():
            inner = signal.getsignal(signal.SIGINT)
            assert inner is not mine
            with heed_interrupts():
                assert signal.getsignal(signal.SIGINT) is inner
                _send()
        assert heard == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


@heed_interrupts()
def _lose(error: Exception | None) -> None:
    try:
        _send()
    except KeyboardInterrupt:
        if error is not None:
            raise error from None


@pytest.mark.parametrize("error", [None, TypeError("no overload of that function")])
def test_an_interrupt_that_is_lost_on_its_way_is_raised_at_the_end(error: Exception | None) -> None:
    with pytest.raises(KeyboardInterrupt):
        _lose(error)


def test_other_threads_leave_the_handler_alone() -> None:
    seen = []

    def work() -> None:
        with heed_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
