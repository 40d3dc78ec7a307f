"""Everything that touches the world: processes, HTTP, files, clocks."""
