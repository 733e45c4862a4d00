"""Simulation: the closed loop as equations, integration methods, runs in time, their results, and solving for positions."""
