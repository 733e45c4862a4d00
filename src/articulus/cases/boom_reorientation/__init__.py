"""A hub with four flexible booms is turned by one cycle of a sine torque."""
