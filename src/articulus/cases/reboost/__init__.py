"""A satellite of 582 degrees of freedom during a re-boost, and a truss of 54: open loop, full state, Kalman filter."""
