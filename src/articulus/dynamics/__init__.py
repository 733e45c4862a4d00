"""One algorithm per file, on symbols, in the form in which the literature prints it; quantities as native code; the class `Mechanism`."""
