"""A hub with flexible booms follows a fast slew by a sliding mode whose bound comes from its own modes."""
