"""Momentum-conserving central differences and stabilized penalties of Park 1993."""
