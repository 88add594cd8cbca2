"""Which rung and which tiles for a shape: predicted, searched, chosen."""
