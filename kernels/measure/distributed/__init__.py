"""What a record of several GPUs holds: the links, every algorithm, other libraries, and faults."""
