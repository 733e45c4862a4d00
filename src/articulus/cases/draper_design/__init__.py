"""Structure and controller of the DRAPER I truss, McLaren & Slater 1989."""
