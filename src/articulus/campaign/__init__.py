"""From one run to a million: what varies, how it runs, what is kept, what comes out."""
