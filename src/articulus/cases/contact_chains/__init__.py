"""Arms that slide and roll on one object, after Lilly & Orin 1989."""
