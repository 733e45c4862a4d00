"""Synthesis of controllers by Riccati equations: one method, one file."""
