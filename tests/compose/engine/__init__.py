"""The composition on a real engine: `make compose-test`."""
