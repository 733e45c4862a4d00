"""Two weights on a tether over pulleys, of which one swings."""
