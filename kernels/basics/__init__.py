"""What everything stands on: units, files, and the data sheets of GPUs."""
