"""What authors of the course use: pages executed and measured, words counted, tables written.

Nothing that a page runs imports it. `notebooks` executes chapters, `reading` counts what they ask
of a reader, `showcase` and `inline` write a record's figures into pages; `python -m kernels` runs
its commands as a program.
"""
