"""The audit of a split: leaks, redundancy and floors of any set of triple files, each with what a model gains by it."""
