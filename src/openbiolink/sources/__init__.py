"""Stage 1: the catalogue of sources, and readers for their formats."""
