"""The host collector: one file a source, each with its reading, its reader and its pure families."""
