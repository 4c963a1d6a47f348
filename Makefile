# Two commands do everything on a machine that has only Python 3.11+ and make:
#   make run     the panel on the demo world        make test    the tests
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.run-ready
DEV    := $(VENV)/.dev-ready
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet install

.PHONY: run panel test check format bench soak screenshots lock clean
.DEFAULT_GOAL := run

run: $(RUN)
	@$(BIN)/python -m tui demo

panel: $(RUN)
	@$(BIN)/python -m tui $(ARGS)

test: $(DEV)
	@$(BIN)/python -m pytest $(ARGS)

check: $(DEV)
	@$(BIN)/ruff format --check core tui tests
	@$(BIN)/ruff check core tui tests
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports --no-cache

format: $(DEV)
	@$(BIN)/ruff check --fix core tui tests
	@$(BIN)/ruff format core tui tests

bench: $(DEV)
	@$(BIN)/python -m tests.perf $(ARGS)

soak: $(DEV)
	@$(BIN)/python -m tests.perf.soak $(ARGS)

screenshots: $(DEV)
	@$(BIN)/python -m tests.tour.pictures $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Jackfield needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1)."; \
	  echo "Name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); \
	  v=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "$(PYTHON) cannot create virtual environments (its venv module is missing)."; \
	  echo "On Debian and Ubuntu:  sudo apt install python$$v-venv"; \
	  echo "Or with uv:            uv venv --seed $(VENV)    and make again"; exit 1; }

$(RUN): requirements.lock | $(BIN)/python
	@echo "Installing what Jackfield needs into $(VENV) …"
	@$(PIP) --require-hashes -r requirements.lock
	@touch $@

$(DEV): tests/requirements.lock | $(BIN)/python
	@echo "Installing what Jackfield and its tests need into $(VENV) …"
	@$(PIP) --require-hashes -r tests/requirements.lock
	@touch $@ $(RUN)

# Needs uv. No index address and no local path gets into the files.
lock:
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	  --custom-compile-command 'make lock' -o requirements.lock pyproject.toml
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	  --custom-compile-command 'make lock' --group dev -o tests/requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache
