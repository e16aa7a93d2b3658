# Every target does its own set-up: a virtual environment in .venv, made anew when pyproject.toml
# changes. The stamp is named after the checkout, because an environment does not survive a move.
# Which Python: make PYTHON=/path/to/python3.12; without it, the newest that is found.

space := $(subst ,, )
PLACE := $(subst $(space),_,$(subst /,-,$(CURDIR)))
READY := .venv/ready$(PLACE)
PLAIN := .venv/plain$(PLACE)
BIN   := .venv/bin

# Tests and demo start the command thousands of times: each would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test explore mutate kills fuzz lint check tables docs man bench build lock sbom security clean
.DEFAULT_GOAL := help

help: ## Say what there is
	@awk -F ': |## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$NF }' Makefile

demo: $(PLAIN) ## Show the main job on records that a real Slurm printed
	@rm -rf build/demo && $(BIN)/sssjob demo build/demo

setup: $(READY) ## Install what the tests need; every target that needs it does so by itself

test: $(READY) ## Run all tests, in parallel
	@$(BIN)/pytest

explore: $(READY) ## Run the property tests on fresh cases: ROUNDS=5 times, or for one SEED
	@bash .ci/explore "$(ROUNDS)" "$(SEED)"

mutate: $(READY) ## Plant COUNT=100 faults in a ROOM=units, and print those that its tests do not notice; SEED=7 draws them, SECONDS=0 ends it, ONLY=FILE plants those it printed again, ONLY=sssjob.units those of a module
	@PYTHONPATH=tests $(BIN)/python tests/long/mutate.py $(ROOM) $(or $(COUNT),100) $(or $(SEED),7) $(or $(SECONDS),0) $(ONLY)

kills: $(READY) ## Kill commands at N=200 random moments each, or one CASE="ledger", and look at what they leave
	@$(BIN)/python tests/long/kills.py $(or $(N),200) $(or $(SEED),22) $(if $(CASE),"$(CASE)")

fuzz: $(READY) ## Fuzz what reads bytes of strangers, each TARGET for SECONDS=60
	@bash .ci/fuzz $(or $(SECONDS),60) $(if $(TARGET),"$(TARGET)")

lint: $(READY) ## Check format, style, types and the house's import contracts
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check: lint test ## Run what CI runs

tables: $(READY) ## Make the lists in schemas/, docs/conformance.md and docs/record-fields.md from the tables
	@$(BIN)/python -m sssjob.schema
	@$(BIN)/python -m sssjob.conformance.page > docs/conformance.md
	@$(BIN)/python -m sssjob.accounting.fields > docs/record-fields.md

docs: $(READY) ## Build the documentation as a site into build/site
	@$(BIN)/python docs/site.py build/docs
	@$(BIN)/python -m sphinx -q -W --keep-going -b html -c docs build/docs build/site

man: $(PLAIN) ## Make the help of every command a page for man, in build/man
	@$(BIN)/python -m sssjob.cli.manual build/man/man1

bench: $(READY) ## Measure every program in benchmarks/; at full size one by one: benchmarks/README.md
	@for program in benchmarks/[!_]*.py; do echo "== $$program"; $(BIN)/python "$$program" || exit; done

build: $(READY) ## Build the wheel and the sdist into dist/
	@$(BIN)/python -m build --no-isolation
	@$(BIN)/python .ci/sbom dist

lock: ## Write the newest versions of all dependencies, with hashes, into .ci/locked.txt
	@bash .ci/lock

sbom: $(PLAIN) ## Write what an installation consists of, as CycloneDX, into dist/
	@$(BIN)/python .ci/sbom dist

security: ## Look for known weaknesses in the code and in all dependencies, by bandit and pip-audit
	@bash .ci/security

clean: ## Remove what the other targets made
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find sssjob tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml .ci/setup .ci/packages .ci/locked.txt
	@bash .ci/setup tests $(PYTHON)
	@touch "$(PLAIN)" "$@"

$(PLAIN): pyproject.toml .ci/setup
	@bash .ci/setup users $(PYTHON)
	@touch "$@"
