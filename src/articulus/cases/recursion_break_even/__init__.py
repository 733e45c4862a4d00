"""Where recursion pays, and how parallel it is, after Nikravesh, Gim, Arabyan & Rein 1989."""
