"""Compares what compiled calls return and change with what eager's did."""
