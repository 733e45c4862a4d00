"""Servo constraints of Ider 1989."""
