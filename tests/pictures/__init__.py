"""The pictures that the README shows: made by `make pictures`, of real runs, by our own renderer."""
