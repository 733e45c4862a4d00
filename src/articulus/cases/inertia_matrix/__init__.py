"""Inertia matrix of Fijany & Bejczy 1989."""
