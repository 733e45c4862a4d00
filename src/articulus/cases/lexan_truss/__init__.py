"""Two-link lexan truss of Devasia & Bayo."""
