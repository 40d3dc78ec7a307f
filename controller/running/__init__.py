"""One run from preflight to archive: the pure lifecycle, the loop around it, and the daemon above."""
