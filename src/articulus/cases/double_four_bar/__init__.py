"""Two four-bar linkages through their singular positions."""
