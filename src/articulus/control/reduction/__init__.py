"""Models of lower order, with the bound of their error and the error as measured; one method, one file."""
