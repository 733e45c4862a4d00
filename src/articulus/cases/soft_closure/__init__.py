"""An arm whose tip is caught by a pin, with and without forces that prepare it."""
