"""What a run means: validity first, then objectives; its record, its table, its JUnit file."""
