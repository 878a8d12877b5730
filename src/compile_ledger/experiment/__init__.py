"""Makes facts by running the workload: arms in fresh processes, one condition each."""
