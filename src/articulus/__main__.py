"""`python -m articulus` is `articulus`."""

from articulus.cli import main

main()
