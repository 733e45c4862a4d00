"""Active bay of an articulated truss, Devasia, Paden & Bayo 1993."""
