"""A four-bar linkage with a coupler that bends."""
