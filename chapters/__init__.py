"""The chapters: a folder for each, with the code that no other chapter uses."""
