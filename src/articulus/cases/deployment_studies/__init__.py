"""An appendage slewed under four controllers, and a rim of 18 bodies that six stays let out."""
