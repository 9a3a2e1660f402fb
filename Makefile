# penstock's workshop. `make` alone lists what there is; every target sets up what it needs first.

PYTHON ?= python3
ARGS   ?=
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
OUT    := $(CURDIR)/build/compiled
TESTED := $(CURDIR)/build/tested
CACHE  := $(CURDIR)/build/cache
# The rooms that are compiled, tested both ways.
CORE   := tests/engine tests/codecs tests/journal tests/broker tests/dialects tests/simulation \
          $(addprefix tests/server/test_,clock.py alert.py tick.py connection.py)
NODE   := $(CURDIR)/build/node
STOCK  := $(addprefix $(CURDIR)/build/,rsmqctl-venv pyrsmq-venv)
SOURCES := $(shell find src -name '*.py')
SUDO   := $(if $(filter-out 0,$(shell id -u)),sudo -n)
PEERS  := beanstalkd redis-server nats-server rabbitmq-server
# Debian keeps servers in /usr/sbin, which is not in everybody's path.
export PATH := $(PATH):/usr/sbin

# What a target needs is made two at a time: compiling takes minutes of one processor.
MAKEFLAGS += --no-print-directory -j2
.DEFAULT_GOAL := help
.PHONY: help setup compile serve demo test plain check format bench torture docs node stock lock clean apt

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with everything of requirements.lock in it

compile: $(OUT)/.ready ## compile the hot rooms into build/compiled, where there is a C compiler

serve: compile ## run the server, compiled, on ./penstock-data
	PYTHONPATH=$(OUT) $(BIN)/penstock serve --data penstock-data $(ARGS)

demo: setup node ## tell the whole story, narrated step by step
	$(BIN)/python -m demo $(ARGS)

test: check $(TESTED)/.ready $(CACHE)/.ready plain node stock need-beanstalkd need-redis-server need-redis-cli need-chromium ## check, the hot rooms' tests as plain Python, then every test with them compiled (ARGS="-k journal" picks some)
	PYTHONPATH=$(TESTED) $(BIN)/pytest -n 3 --dist worksteal --ignore tests/pipeline $(ARGS) # on two processors: much of it is waiting
	XDG_CACHE_HOME=$(CACHE) PYTHONPATH=$(TESTED) $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder tests/pipeline $(ARGS) || [ $$? = 5 ] # by file: each process has one Spark session

plain: setup ## the hot rooms' tests, as plain Python
	$(BIN)/pytest -n 2 --dist worksteal $(CORE) $(ARGS) || [ $$? = 5 ] # 5: none of those is picked

check: setup ## lint, format, types, layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_layers.py

format: setup ## format the tree and mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: compile node $(PEERS:%=need-%) ## measure, compiled, against the peers, in one run
	PYTHONPATH=$(OUT) $(BIN)/python -m bench $(ARGS)

torture: compile ## kills, power cuts, time, fuzz, simulation and soak, compiled: all, for a night, or one (ARGS="kill --cycles 50")
	PYTHONPATH=$(OUT) $(BIN)/python -m torture $(ARGS)

node: $(NODE)/.ready ## put what the tests in JavaScript need into build/node

stock: $(addsuffix /.ready,$(STOCK)) ## put RSMQ's programs in Python, each with its own versions, into build

docs: setup ## write the pages that are made from tables in the code
	$(BIN)/python -m docs

lock: setup ## pin again, with hashes and without addresses (ARGS=--upgrade takes the newest)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
	    --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet --output-file requirements.lock $(ARGS)

clean: ## remove what make has made; data stays
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A lock names all there is: pip is not to look for more, and not to be led astray by what was released since.
INSTALL := install --quiet --no-deps --require-hashes --requirement

$(READY): requirements.lock pyproject.toml | $(BIN)/pip
	$(BIN)/pip $(INSTALL) requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/pip check
	@touch $@

# What is tested is compiled like what is used, and optimised less: that takes minutes, and changes no answer.
$(TESTED)/.ready: export PENSTOCK_OPT_LEVEL := 1
$(OUT)/.ready $(TESTED)/.ready: $(SOURCES) setup.py $(READY)
	rm -rf $(@D)
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --target $(@D) .
	@touch $@

# What Spark loads at every start, laid ready once.
$(CACHE)/.ready: $(READY)
	XDG_CACHE_HOME=$(CACHE) $(BIN)/python -m tests.pipeline.classes
	@touch $@

# Where the system has no node, a wheel brings one.
$(NODE)/.ready: tests/interop/package.json tests/interop/package-lock.json tests/interop/node.lock $(READY)
	@command -v npm >/dev/null || $(BIN)/pip $(INSTALL) tests/interop/node.lock
	@mkdir -p $(NODE) && cp tests/interop/package.json tests/interop/package-lock.json $(NODE)
	cd $(NODE) && PATH="$$PATH:$(CURDIR)/$(BIN)" npm ci --silent --omit=optional --no-audit --no-fund
	@touch $@

# They have our script's name, or a package `tests`: not beside ours.
$(CURDIR)/build/%-venv/.ready: tests/interop/%.lock $(READY)
	@rm -rf $(@D) && $(BIN)/python -m venv --without-pip $(@D)
	$(BIN)/pip --python $(@D)/bin/python $(INSTALL) $<
	@touch $@

# Debian keeps ensurepip in a package of its own; the system's pip can fill the gap.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "penstock needs Python 3.11 or newer; name one with make PYTHON=python3.12" >&2; exit 1; }
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv $(VENV); \
	elif $(PYTHON) -m pip --version >/dev/null 2>&1; then \
	    $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; \
	else $(MAKE) apt PACKAGE=python3-venv && $(PYTHON) -m venv $(VENV); fi

# A command that comes in a Debian package of its own name.
need-%:
	@command -v $* >/dev/null || $(MAKE) apt PACKAGE=$*

need-redis-cli:
	@command -v redis-cli >/dev/null || $(MAKE) apt PACKAGE=redis-tools

# One at a time. What a package has started is stopped: servers are wanted here as programs.
apt:
	@mkdir -p build && exec 9>build/.apt && flock 9; \
	    { $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $(PACKAGE); } || \
	    { echo "$(PACKAGE) is needed and could not be installed; as root: apt-get install $(PACKAGE)" >&2; exit 1; }
	@$(SUDO) service $(PACKAGE) stop >/dev/null 2>&1 || true
