"""`make arm`: kernels for aarch64 (NEON, 2 lanes) under emulation, against this processor. `python tests/kernel/arm.py`

LLVM writes the object code of each kernel for a Cortex-A72, a cross-compiler (gcc-aarch64-linux-gnu of Debian, else that of the extra
`cross`) links it with a small program, and qemu-aarch64-static (Debian package qemu-user-static) runs that. Python itself is not emulated.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from llvmlite import binding as llvm

import articulus as art
from articulus import kernel
from articulus.bridges.c import export_quantities
from articulus.dynamics import quantities
from articulus.kernel import program
from articulus.kernel.target import Target

TRIPLE, CPU, EMULATOR = "aarch64-linux-musl", "cortex-a72", "qemu-aarch64-static"
ROWS = 5  # no multiple of the lanes
TOLERANCE = 1e-12  # of the largest number of a result: sums are rounded alike, fused products may be grouped otherwise
MAIN = """
#include <stdio.h>
#include <stdlib.h>
extern long long run(void *);
extern const long long slots;
int main(void)
{{
    static const double {inputs};
    static double {outputs};
    long long frame[] = {{0, {rows}, 0, {operands}}};
    frame[2] = (long long)aligned_alloc(64, 64 + 8 * {lanes} * (size_t)slots / 8 * 8 + 64);
    run(frame);
    {prints}
    return 0;
}}
"""

MODELS = {
    "7 revolutes": (lambda: art.load("rrc7"), "forward_dynamics"),
    "30 revolutes, by calls": (lambda: art.load("pendulum_chain", n=30), "forward_dynamics"),
    "human torso": (lambda: art.load("human_torso"), "derivatives"),
    "flexible arm": (lambda: art.load("king_arm"), "forward_dynamics"),
    "four-bar": (lambda: art.load("n_four_bar", n=1), "closed_dynamics"),
}


def object_code(text: str) -> bytes:
    """Return the object code of a module for the other processor."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(text)
    module.triple = TRIPLE
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        CPU, "", opt=1, reloc="pic", codemodel="small"
    )
    return machine.emit_object(module)


def linked(folder: Path, *files: str) -> list[str]:
    """Link files into a static program; return the command that runs it in emulation."""
    own = shutil.which("aarch64-linux-gnu-gcc")
    compiler = [own] if own else [sys.executable, "-m", "ziglang", "cc", "-target", TRIPLE]
    command = [*compiler, "-O2", "-static", "-o", "program", *files, "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return [EMULATOR, str(folder / "program")]


def gap(mechanism: art.Mechanism, name: str, lanes: int) -> float:
    """Return the largest difference of a quantity between both processors, over its largest number."""
    function = quantities.compilable(mechanism.description, name)
    made = program.build(function)
    rng = np.random.default_rng(1)
    shapes = made.signature.input_shapes
    given = [rng.uniform(-0.5, 0.5, (ROWS, *shape)) for shape in shapes]
    expected = kernel.compile(function, finite=False)(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    operands = [(f"in{k}", x) for k, x in enumerate(given)] + [(f"out{k}", x) for k, x in enumerate(expected)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "kernel.o").write_bytes(object_code(made.text(Target(lanes, True, 32))))
        main = MAIN.format(
            inputs=", ".join(f"in{k}[] = {{{', '.join(map(repr, x.ravel().tolist()))}}}" for k, x in enumerate(given)),
            outputs=", ".join(f"out{k}[{x.size}]" for k, x in enumerate(expected)),
            operands=", ".join(f"(long long){n}, {8 * x[0].size}" for n, x in operands),
            rows=ROWS, lanes=8 * lanes,
            prints="\n".join(
                f'for (int i = 0; i < {x.size}; i++) printf("%.17g\\n", out{k}[i]);' for k, x in enumerate(expected)
            ),
        )  # fmt: skip
        (folder / "main.c").write_text(main)
        done = subprocess.run(
            linked(folder, "main.c", "kernel.o"), capture_output=True, text=True, check=True
        )
    found = np.split(np.array(done.stdout.split(), float), np.cumsum([x.size for x in expected])[:-1])
    return max(
        float(np.abs(a - b.ravel()).max() / max(np.abs(b).max(), 1e-300)) for a, b in zip(found, expected)
    )


def exported() -> str:
    """Return what the test program of exported C says on the other processor."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        export_quantities(art.load("rrc7"), ["forward_dynamics", "mass_matrix"], folder, name="m")
        done = subprocess.run(linked(folder, "m.c", "test_m.c"), capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[-1] if done.stdout else done.stderr


def main() -> int:
    """Print a line for each kernel; return 1 if one differs."""
    if shutil.which(EMULATOR) is None:
        print(f"{EMULATOR} is not installed: apt-get install qemu-user-static")
        return 2
    failed = 0
    for name, (make, quantity) in MODELS.items():
        for lanes in (1, 2):
            found = gap(make(), quantity, lanes)
            failed += not found <= TOLERANCE
            print(f"{name}, {quantity}, {lanes} lanes: {found:.1e}", flush=True)
    said = exported()
    failed += said != "all results agree"
    print(f"exported C: {said}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
