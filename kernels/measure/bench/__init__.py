"""The benchmark: everything that a record of a GPU holds, in one run.

`plan` lists the steps, one module for each subject; `run` does them. What a step measured is kept
at once, so an interrupted run resumes with the next one, and measures again only what depends on a
file that changed meanwhile (`sources`). The record in ``chapters/records`` is replaced only when
all steps are done.
"""
