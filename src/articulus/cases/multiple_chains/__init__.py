"""Several chains on one reference member, Lilly & Orin 1989."""
