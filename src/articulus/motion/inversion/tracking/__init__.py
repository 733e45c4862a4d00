"""Following a path with the inputs of an inversion: on-line, and with feedback around them."""
