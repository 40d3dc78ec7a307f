"""What disturbs a generator: one idea a file, each undone at its end."""
