"""What builds, serves and prints the book: `build`, `serve`, `pdf`, and the commands of make.

`env`, `offline`, `adopt`, `lock`, `colab` and `vendor` need the standard library alone: they run
before there is an environment, or without one.
"""
