"""Two-link flexible arm of Eisler, Segalman & Robinett 1989."""
