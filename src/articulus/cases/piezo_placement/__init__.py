"""Place and length of a piezoelectric pair on a beam, Devasia, Meressi, Paden & Bayo 1993."""
