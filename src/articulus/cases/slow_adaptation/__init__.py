"""Averaging of slow adaptation after Kosut 1989."""
