# `make demo` and `make test` are all that a fresh machine needs; everything lands in .venv and runs/.
#   PYTHON=python3.12   another Python
#   TORCH=system        keep the torch that PYTHON has already (rented images bring one)
# Both are remembered until `make clean`, or until they are given anew.

VENV := .venv
-include $(VENV)/.settings
PYTHON ?= python3
TORCH ?= pinned
BENCH ?= data step sweep overhead growth cold
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
PINS := $(VENV)/constraints.txt

# The settings of another project must not leak into a demo or a test.
unexport SWEEP_STORAGE OPTUNA_STORAGE SWEEP_RUN_DIR SWEEP_TOKEN
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# A venv says how it was made. It is remade when that differs: another torch, a moved folder, or an
# installation that was cut short and so left no word at all.
IDENTITY := $(TORCH) $(PYTHON) $(CURDIR)
MADE := $(VENV)/.made

.DELETE_ON_ERROR:
.PHONY: help demo test chaos bench lint types clean
ifneq ($(shell cat $(MADE) 2>/dev/null),$(IDENTITY))
.PHONY: $(MADE) $(VENV)/.package $(VENV)/.dev
endif

help:
	@echo 'make demo    install into .venv, run the quickstart study and show what it found'
	@echo 'make test    install into .venv and run every test'
	@echo 'make chaos   kill, freeze and cut off a study at random, 200 times on each store'
	@echo 'make bench   measure beside what people use today; an hour (BENCH=data: that one alone)'
	@echo 'make lint    ruff: rules and format'
	@echo 'make types   mypy: strict types'
	@echo 'make clean   remove .venv (runs/ stays)'
	@echo 'Settings: PYTHON=python3.12, TORCH=system (keep the torch that is installed)'

demo: $(VENV)/.package
	$(BIN)/sweep run --study quickstart
	$(BIN)/sweep best --study quickstart
	$(BIN)/sweep export --study quickstart --by batch_size --format table
	@$(BIN)/sweep export --study quickstart -o runs/quickstart.csv
	@$(BIN)/sweep report --study quickstart -o runs/quickstart.html
	@echo
	@echo 'every trial   runs/quickstart.csv'
	@echo 'the report    runs/quickstart.html'
	@echo 'the database  runs/sweep.db'
	@echo 'browse it     $(BIN)/sweep dashboard'

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

chaos: $(VENV)/.dev
	$(BIN)/python -m tests.chaos $(CHAOS_ARGS)

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks $(BENCH)

lint: $(VENV)/.dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

types: $(VENV)/.dev
	$(BIN)/python -m mypy

clean:
	rm -rf $(VENV)

$(VENV)/.package: pyproject.toml constraints.txt | $(MADE)
	$(call install,.)
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(MADE)
	$(call install,.[dev])
	@touch $@ $(VENV)/.package

# While it installs, the venv has no .made: a cut-off run leaves a venv that the next one remakes.
define install
	@rm -f $(MADE)
	@$(PINS_OF_$(TORCH)) > $(PINS)
	$(PIP) install --quiet --constraint $(PINS) hatchling
	$(PIP) install --no-build-isolation --constraint $(PINS) --editable '$(1)'
	@echo '$(IDENTITY)' > $(MADE)
endef

$(MADE):
	@$(CHECK_PYTHON)
	@$(CHECK_TORCH_$(TORCH))
	@echo 'making $(VENV) with $(PYTHON)'
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV_OPTIONS_$(TORCH)) $(VENV)
	@printf 'PYTHON ?= %s\nTORCH ?= %s\n' '$(PYTHON)' '$(TORCH)' > $(VENV)/.settings
	@$(SHOW_TORCH_$(TORCH))
	@echo '$(IDENTITY)' > $@

define CHECK_PYTHON
command -v $(PYTHON) > /dev/null || { \
  echo 'There is no $(PYTHON): apt-get install python3 python3-venv, or make PYTHON=...'; exit 1; }; \
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo "sweep needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1):" \
    'make PYTHON=python3.12 takes another one'; exit 1; }; \
$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { \
  echo '$(PYTHON) cannot make a venv: apt-get install python3-venv'; exit 1; }
endef

# TORCH=pinned: the versions of constraints.txt.
CHECK_TORCH_pinned := :
VENV_OPTIONS_pinned :=
SHOW_TORCH_pinned := :
PINS_OF_pinned := cat constraints.txt

# TORCH=system: the venv sees what PYTHON sees, also where PYTHON itself lives in a venv.
VENV_OPTIONS_system := --system-site-packages

define CHECK_TORCH_system
$(PYTHON) -c 'import torch, torchvision' 2> /dev/null || { \
  echo '$(PYTHON) has no torch and torchvision of its own: leave out TORCH=system, or name' \
    'the Python that has them: make TORCH=system PYTHON=...'; exit 1; }; \
$(PYTHON) -c 'import sys, torch; sys.exit([*map(int, torch.__version__.split(".")[:2])] < [2, 6])' || { \
  echo 'sweep needs torch 2.6 or newer, and $(PYTHON) has an older one: leave out TORCH=system'; \
  exit 1; }
endef

define SHOW_TORCH_system
$(PYTHON) -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])' \
  > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
endef

define PINS_OF_system
{ sed '/^# begin torch/,/^# end torch/d' constraints.txt; $(PYTHON) -c 'from importlib.metadata \
import version as v; print(*(f"{name}=={v(name)}" for name in ("torch", "torchvision")), sep="\n")'; }
endef

ifeq ($(CHECK_TORCH_$(TORCH)),)
$(error TORCH=$(TORCH) is neither pinned nor system)
endif
ifeq ($(TORCH),system)
unexport PIP_CONSTRAINT
endif
