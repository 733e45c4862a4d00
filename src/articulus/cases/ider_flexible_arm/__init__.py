"""Joint drives of a flexible arm, Ider 1989."""
