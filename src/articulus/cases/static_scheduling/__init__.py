"""Schedules of task graphs."""
