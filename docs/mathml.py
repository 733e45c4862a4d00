r"""Equations of the pages as MathML, which browsers show without scripts: a Sphinx extension.

Reads the part of LaTeX that the pages use: letters, numbers, `_`, `^`, `{}`, Greek letters, `\frac`, `\sqrt`, accents, `\mathrm`, `\text`,
matrices (`bmatrix`) and aligned lines (`aligned`). Anything else is an error, so that no page shows what it does not mean.
"""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ",
    "nu": "ν", "kappa": "κ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Lambda": "Λ",
    "Psi": "Ψ", "Upsilon": "Υ", "Omega": "Ω",
}  # fmt: skip
OPERATORS = {
    "cdot": "⋅",
    "times": "×",
    "to": "→",
    "leftarrow": "←",
    "partial": "∂",
    "le": "≤",
    "ge": "≥",
    "dots": "…",
    "ast": "∗",
    "top": "⊤",
    "sum": "∑",
    "int": "∫",
    "Rightarrow": "⇒",
    "circ": "∘",
}
FUNCTIONS = ("sin", "cos", "tan", "exp", "log")  # fmt: skip
SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em", "qquad": "2em"}
ACCENTS = {"dot": ".", "ddot": "..", "bar": "‾", "hat": "^", "tilde": "~"}
TOKEN = re.compile(
    r"\s*(\\text\{[^{}]*\}|\\[A-Za-z]+|\\\\|\\[,;]|[0-9]+(?:\.[0-9]+)?|[A-Za-z]|[-+=<>()\[\]|,.:;/*'&^_{}])"
)

SIDES = ("right", "left")
BETWEEN_CELLS = ("&", r"\\", r"\end")


class Equation:
    """One equation of a page, read from left to right."""

    def __init__(self, text: str):
        self.text, self.tokens, at = text, [], 0
        text = text.rstrip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise ValueError(
                    f"equation {self.text!r}: found {text[at:][:20]!r}; expected LaTeX that docs/mathml.py knows"
                )
            self.tokens.append(found[1])
            at = found.end()
        self.tokens.reverse()

    def row(self, ends: tuple[str, ...] = ()) -> str:
        """Return everything up to one of some tokens, which stays."""
        out: list[str] = []
        while self.tokens and self.tokens[-1] not in ends:
            out.append(self._scripted())
        return f"<mrow>{''.join(out)}</mrow>"

    def _scripted(self) -> str:
        base, below, above = self._atom(), "", ""
        while self.tokens and self.tokens[-1] in ("_", "^", "'"):
            mark = self.tokens.pop()
            part = "<mo>′</mo>" if mark == "'" else self._atom()
            if mark == "_":
                below = part
            else:
                above = f"<mrow>{above}{part}</mrow>" if above else part
        if below and above:
            return f"<msubsup>{base}{below}{above}</msubsup>"
        if below:
            return f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if above else base

    def _atom(self) -> str:
        token = self.tokens.pop()
        if token == "{":
            found = self.row(("}",))
            self._expect("}")
            return found
        if token.startswith(r"\text{"):
            return f"<mtext>{escape(token[6:-1]).replace(' ', '&#160;')}</mtext>"
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "()[]|":
            return f'<mo stretchy="false">{token}</mo>'
        return f"<mo>{escape('−' if token == '-' else token)}</mo>"

    def _command(self, name: str) -> str:
        if name in SYMBOLS:
            return f"<mi>{SYMBOLS[name]}</mi>"
        if name in OPERATORS:
            return f"<mo>{OPERATORS[name]}</mo>"
        if name in FUNCTIONS:
            return f'<mi mathvariant="normal">{name}</mi>'
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in ACCENTS:
            return f'<mover>{self._atom()}<mo stretchy="false">{ACCENTS[name]}</mo></mover>'
        if name == "frac":
            return f"<mfrac>{self._atom()}{self._atom()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._atom()}</msqrt>"
        if name == "mathrm":
            return f'<mi mathvariant="normal">{self._letters()}</mi>'
        if name == "begin":
            return self._table(self._letters())
        raise ValueError(
            f"equation {self.text!r}: found '\\{name}'; expected a command that docs/mathml.py knows"
        )

    def _letters(self) -> str:
        self._expect("{")
        out = []
        while self.tokens[-1] != "}":
            out.append(self.tokens.pop())
        self._expect("}")
        return "".join(out)

    def _table(self, kind: str) -> str:
        if kind not in ("bmatrix", "aligned"):
            raise ValueError(f"equation {self.text!r}: found '{kind}'; expected bmatrix or aligned")
        rows, cells = [], []
        while True:
            side = SIDES[len(cells) % 2] if kind == "aligned" else "center"
            cells.append(f'<mtd style="text-align: {side}">{self.row(BETWEEN_CELLS)}</mtd>')
            end = self.tokens.pop()
            if end != "&":
                rows.append(f"<mtr>{''.join(cells)}</mtr>")
                cells = []
            if end == r"\end":
                break
        if self._letters() != kind:
            raise ValueError(f"equation {self.text!r}: an environment is not closed")
        table = f"<mtable>{''.join(rows)}</mtable>"
        return table if kind == "aligned" else f"<mrow><mo>[</mo>{table}<mo>]</mo></mrow>"

    def _expect(self, token: str) -> None:
        if not self.tokens or self.tokens.pop() != token:
            raise ValueError(f"equation {self.text!r}: expected '{token}'")


def mathml(text: str, block: bool) -> str:
    """Return an equation as a MathML element."""
    display = "block" if block else "inline"
    return (
        f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="{display}">{Equation(text).row()}</math>'
    )


def _inline(translator: Any, node: Any) -> None:
    from docutils import nodes

    translator.body.append(mathml(node.astext(), False))
    raise nodes.SkipNode


def _block(translator: Any, node: Any) -> None:
    from docutils import nodes

    translator.body.append(
        f'<div class="math" style="overflow-y: hidden; padding: 0.4em 0">{mathml(node.astext(), True)}</div>\n'
    )
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
