"""What a mechanism is: its description and builder, its files, ready models."""
