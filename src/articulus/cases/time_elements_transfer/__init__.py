"""Transfer of Bryson & Ho by finite elements in time."""
