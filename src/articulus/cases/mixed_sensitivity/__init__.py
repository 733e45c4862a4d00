"""Mixed sensitivity of a lightly damped plant, Chiang & Safonov 1989."""
