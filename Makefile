# `make help` lists what there is.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DIST ?= dist
# A third of the tests' time is waiting, so two more than there are processors.
TESTERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Hundreds of processes start in a run of the tests: without compiled files each would compile the program.
unexport PYTHONDONTWRITEBYTECODE

RUNTIME := $(shell sed -n 's/^\([A-Za-z0-9_.-]*\)\(\[.*\]\)\{0,1\}==.*/\1/p' requirements.txt | sort -u)
PYBABEL = $(BIN)/pybabel -q
LICENCES = $(BIN)/pip-licenses --format markdown --packages $(RUNTIME)

.DEFAULT_GOAL := help
.PHONY: help run test slow lint format bench rush faults fuzz audit sbom clients lock docs catalogues site shots clean

help:  ## this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/run.stamp  ## everything on this machine, on port 8000 (PORT=; ARGS=--no-demo begins with nothing)
	@exec $(BIN)/flask --app wsgi up $(ARGS)

test: $(VENV)/dev.stamp clients/node_modules/stamp  ## all tests that are not slow, in parallel (ARGS= for pytest)
	@echo "Without the slow tests, which make slow runs."
	@exec $(BIN)/python -m pytest -n $(TESTERS) --dist worksteal -m "not slow" $(ARGS)

slow: $(VENV)/dev.stamp  ## the slow tests: outages, several machines, large amounts (ARGS= for pytest)
	@exec $(BIN)/python -m pytest -n $(TESTERS) --dist worksteal -m slow $(ARGS)

lint: $(VENV)/dev.stamp  ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/dev.stamp  ## ruff's formatter and its safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/dev.stamp  ## the service beside a bare Flask app (ARGS= for names and options)
	@exec $(BIN)/python -m benchmarks $(ARGS)

rush: $(VENV)/dev.stamp  ## the minute after the tickets open (ARGS="--seconds 20 --flame flame.svg")
	@exec $(BIN)/python -m benchmarks.rush $(ARGS)

faults: $(VENV)/dev.stamp  ## the service under load while parts of it break (FAULTS="F1 F7" SEEDS= SECONDS= FULL=1)
	@exec $(BIN)/python -m tests.faults.suite

fuzz: $(VENV)/dev.stamp  ## long runs: hostile requests, state machines (FUZZ_EXAMPLES= MODEL_EXAMPLES= MODEL_STEPS=)
	@FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-300} MODEL_EXAMPLES=$${MODEL_EXAMPLES:-250} MODEL_STEPS=$${MODEL_STEPS:-40} \
		exec $(BIN)/python -m pytest -n auto -p no:randomly --timeout 7200 \
		tests/contract/test_fuzz.py tests/security/test_fuzz_inside.py tests/security/test_fuzz_rows.py tests/models $(ARGS)

audit: $(VENV)/dev.stamp  ## licences and known vulnerabilities of what we depend on (asks osv.dev)
	@$(LICENCES) >/dev/null
	@$(BIN)/pip-audit --progress-spinner off --disable-pip -s osv \
		-r requirements.txt -r requirements-dev.txt -r requirements-observability.txt

sbom: $(VENV)/dev.stamp  ## a CycloneDX bill of materials on standard output
	@$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible requirements.txt

clients: $(VENV)/dev.stamp clients/node_modules/stamp  ## clients for Python, TypeScript and Postman (DIST=dist)
	@mkdir -p $(DIST)
	@$(BIN)/flask --app wsgi openapi write $(DIST)/openapi.json
	@$(BIN)/openapi-python-client generate --path $(DIST)/openapi.json --output-path $(DIST)/python --overwrite \
		--config clients/python.yml
	@clients/node_modules/.bin/openapi-typescript $(DIST)/openapi.json -o $(DIST)/typescript/event-commerce.d.ts
	@clients/node_modules/.bin/openapi2postmanv2 -s $(DIST)/openapi.json -o $(DIST)/postman.json -p

clients/node_modules/stamp: clients/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing; on Debian: apt-get install npm"; exit 1; }
	@cd clients && flock package.json sh -c \
		'[ node_modules/stamp -nt package-lock.json ] || { npm ci --silent --no-audit --no-fund && touch node_modules/stamp; }'

docs: $(VENV)/dev.stamp  ## the pages that are made from the code
	$(BIN)/flask --app wsgi docs write
	@table=$$($(LICENCES)) && { printf '# Licences\n\nWhat the service needs to run, written by `make docs`. `make audit` fails at a licence that is not in\n`pyproject.toml`. The service itself is under the [MIT licence](../LICENSE).\n\n'; echo "$$table"; } > docs/licences.md

catalogues: $(VENV)/dev.stamp  ## the texts of the program, in the catalogues of app/translations
	@texts=$$(mktemp) && $(PYBABEL) extract -F app/translations/babel.cfg -k lazy_gettext -k lazy_pgettext:1c,2 \
		-k mark_for_translation -k mark_plural:1,2 --no-wrap --add-location=file --omit-header -o $$texts . && \
		$(PYBABEL) update -i $$texts -d app/translations --no-wrap --no-fuzzy-matching --ignore-obsolete --omit-header; \
		status=$$?; rm -f $$texts; exit $$status

shots: $(VENV)/dev.stamp  ## the pictures of the guides, taken from the demo (Chromium, pdftoppm)
	@$(BIN)/python -m tests.docs.screenshots $(ARGS)

lock: $(VENV)/run.stamp  ## resolve requirements*.in again
	$(BIN)/pip install -q uv==0.13.8
	@for name in requirements requirements-dev requirements-observability; do \
		$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
			--no-emit-find-links $$name.in -o $$name.txt; done

site: $(VENV)/dev.stamp  ## the documentation as a web site with search, in dist/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir $(abspath $(DIST))/site

clean:  ## the virtual environment and all local data
	rm -rf $(VENV) var

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv is missing; on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/run.stamp: requirements.txt | $(VENV)/bin/python
	@echo "Installing what the service needs (once) …"
	@$(BIN)/pip install -q --no-compile --require-hashes --no-deps -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt $(VENV)/run.stamp
	@echo "Installing what tests and linters need (once) …"
	@$(BIN)/pip install -q --no-compile --require-hashes --no-deps -r requirements-dev.txt
	@touch $@
