# make demo   install into .venv and audit the embedding service
# make test   lint, types, import contracts, and the tests that start no compiler process
# make test-all  the same, with every test
# make matrix the recorder's tests on other versions of torch: fresh environments, several GB
# make clean  remove what the two made

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	--constraint constraints/cpu.txt
PACKAGING := pyproject.toml constraints/cpu.txt

.DELETE_ON_ERROR:
.PHONY: demo test test-all lint types contracts unit unit-all schema matrix clean

# The service fails STABLE on purpose, which is exit status 1.
demo: $(VENV)/.installed-demo
	$(BIN)/compile-ledger audit -o demo --html demo/report.html \
		examples/embedding_service.py || test $$? -eq 1

test: lint types contracts unit

test-all: lint types contracts unit-all

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-dev
	$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports --no-logo

# A file's tests share processes that one of them starts, so a file stays with one worker.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --durations 20

unit: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow"

unit-all: $(VENV)/.installed-dev
	$(PYTEST)

schema: $(VENV)/.installed-dev
	$(BIN)/python docs/make_schema.py

MATRIX ?= 2.6.0 2.13.0 2.14.1

matrix: $(MATRIX:%=.matrix/%/table.txt)
	tail -n +1 $^

.matrix/%/table.txt: .matrix/%/.installed $(wildcard src/compile_ledger/*/*.py tests/observe/*.py)
	.matrix/$*/bin/python -m pytest tests/observe
	.matrix/$*/bin/compile-ledger env --probe > $@

# A machine whose pip configuration pins torch needs that pin lifted for this.
.PRECIOUS: .matrix/%/.installed
.matrix/%/.installed: $(PACKAGING)
	$(PYTHON) -m venv .matrix/$*
	grep -v '^torch==' constraints/cpu.txt > .matrix/$*/constraints.txt
	.matrix/$*/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint .matrix/$*/constraints.txt torch==$* numpy --editable '.[dev]'
	touch $@

# Some distributions ship venv without pip; the second line puts it there.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) \
		&& $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

$(VENV)/.installed-demo: $(PACKAGING) | $(BIN)/python
	$(INSTALL) --editable '.[torch,examples]'
	touch $@

$(VENV)/.installed-dev: $(PACKAGING) | $(BIN)/python
	$(INSTALL) --editable '.[torch,examples,dev]'
	touch $@

clean:
	rm -rf $(VENV) .matrix demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf .import_linter_cache
	find src tests examples benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
