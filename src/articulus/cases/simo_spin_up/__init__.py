"""Spin-up of a flexible beam, Simo & Vu-Quoc 1987."""
