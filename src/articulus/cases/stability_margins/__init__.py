"""Multivariable stability margins: Tekawy, Safonov & Chiang 1989; Chiang & Safonov 1989."""
