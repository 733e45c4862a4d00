"""Design on sampled frequency responses, measured or computed, without a state-space model of the plant."""
