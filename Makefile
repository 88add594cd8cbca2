# Two commands matter: `make serve` to read and run the course, `make test` to check it.
# Every target runs in an environment that book/env.py makes from a hashed lock on the first call.
PYTHON ?= python3
PORT ?= 8000
RUN = $(PYTHON) book/env.py
RUN_TEST = $(PYTHON) book/env.py --test

.DEFAULT_GOAL := help
.PHONY: help serve lab book offline cuda bench record check test browser test-colab adopt lock format cells pictures vendor fonts clean

help:  ## say what each command does
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' Makefile | awk -F@ '{printf "%-17s %s\n", $$1, $$2}'

serve:  ## the book and its live kernels on this machine (PORT=8000)
	@$(RUN) -m book.serve --port="$(PORT)"

lab:  ## JupyterLab on the chapters
	@$(RUN) -m jupyterlab --allow-root --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/chapters

book:  ## the static book, in _build/html
	@$(RUN) -m book.build

offline:  ## the built book and a small server as one archive, in _build
	@$(PYTHON) -m book.offline

cuda:  ## the CUDA C++ program of kernels/program, in _build/program (needs CMake and nvcc)
	@for tool in cmake nvcc; do command -v $$tool >/dev/null || { \
		echo "make cuda needs $$tool, which isn't on PATH" >&2; exit 1; }; done
	@cmake -S kernels/program -B _build/program >/dev/null
	@cmake --build _build/program >/dev/null
	@echo "_build/program/matmul --help says what it takes"

bench:  ## measure all that a record holds on this machine
	@$(RUN) -m kernels bench

record:  ## on a GPU: execute the chapters and store what was measured
	@$(RUN) -m kernels record

check:  ## the tests of what changed since main, for about half a minute (ARGS=--all: every unit test)
	@$(RUN_TEST) -m tests.check $(ARGS)

test:  ## the whole test suite in two processes (ARGS="-k name" narrows it, in one)
	@$(RUN_TEST) -m pytest $(or $(ARGS),-n 2 --dist loadfile --no-loadscope-reorder)

browser:  ## fetch a browser for the tests, where the machine has none
	@$(RUN_TEST) -m book.browser

test-colab:  ## the chapters under Colab's versions, GPU and CPU image (minutes; not in `make test`)
	@$(PYTHON) -m book.colab $(ARGS)

adopt:  ## make the course yours: REPO=owner/name
	@$(PYTHON) -m book.adopt "$(REPO)"

lock:  ## bring the locks up to pyproject.toml (needs uv; ARGS=--upgrade: to the newest)
	@$(PYTHON) -m book.lock $(ARGS)

format:  ## format Python and JavaScript
	@$(RUN_TEST) -m ruff check --quiet --select I --fix .
	@$(RUN_TEST) -m ruff format --quiet .
	@$(RUN_TEST) -c 'import subprocess; subprocess.run(["oxfmt", "."], check=True)' >/dev/null

cells:  ## copy the kernels into the chapters' kernel cells
	@$(RUN) -m book.cells

pictures:  ## draw the widgets for readers without scripts (needs Chromium)
	@$(RUN_TEST) -m book.pictures

vendor:  ## fetch the pinned scripts of the tests anew (needs npm)
	@$(PYTHON) -m book.vendor

fonts:  ## cut the pages' fonts anew (needs npm and uv)
	@uv run --quiet --no-project --with "fonttools[woff]>=4.60" -m book.fonts

clean:  ## remove what was built, keep the environment
	@rm -rf _build .pytest_cache .ruff_cache .hypothesis
