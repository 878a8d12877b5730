"""The recorder: what it knows, when it starts and ends, and what it writes."""
