"""What builds and serves the book: `build`, `serve`, and the commands of make.

`env`, `offline`, `adopt`, `lock`, `colab` and `vendor` need the standard library alone: they run
before there is an environment, or without one.
"""
