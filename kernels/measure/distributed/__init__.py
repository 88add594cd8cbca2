"""What a record of several GPUs holds: the links, every algorithm, and other libraries."""
