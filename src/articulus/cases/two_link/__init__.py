"""Two-link arm of Lin & Yae 1989."""
