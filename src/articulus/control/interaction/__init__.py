"""Control-structure and thermal-structural interaction, each field by its own solution."""
