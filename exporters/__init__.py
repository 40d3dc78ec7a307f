"""Collectors for GPU, host and load generator; a stand-alone program, and importable by any locustfile."""
