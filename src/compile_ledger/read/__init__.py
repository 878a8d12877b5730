"""Reads facts that somebody wrote: our recordings, torch's traces and logs. Never imports torch."""
