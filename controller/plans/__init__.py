"""What is to be done, and when: plans read strictly, laid out as timetables, due by schedules."""
