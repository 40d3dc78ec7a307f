"""The daemon and the command line: a plan becomes a timetable, a lifecycle, a run, a verdict."""
