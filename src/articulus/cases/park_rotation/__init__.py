"""Momentum-conserving central differences and stabilised penalties of Park 1993."""
