"""Does the instrument know when it cannot be trusted? Healthy runs, poisoned generators and slow servers, all real."""
