"""Feedback laws of systems that chance moves: stochastic dynamic programming on grids of states."""

from articulus.motion.trajectory.stochastic.law import FeedbackLaw, Jump, feedback_law

__all__ = ["FeedbackLaw", "Jump", "feedback_law"]
