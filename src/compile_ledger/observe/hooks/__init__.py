"""What is put into torch: one file a hook, each in its own attempt."""
