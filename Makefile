# Every target does its own set-up: a virtual environment in .venv, made anew when pyproject.toml
# changes. The stamp is named after the checkout, because an environment does not survive a move.
# Which Python: make PYTHON=/path/to/python3.12; without it, the newest that is found.

space := $(subst ,, )
READY := .venv/ready$(subst $(space),_,$(subst /,-,$(CURDIR)))
BIN   := .venv/bin

.PHONY: help demo test explore mutate lint check tables bench build clean
.DEFAULT_GOAL := help

help: ## Say what there is
	@awk -F ': |## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$NF }' Makefile

demo: $(READY) ## Show the main job on records that a real Slurm printed
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

test: $(READY) ## Run all tests, in parallel
	@$(BIN)/pytest

explore: $(READY) ## Run the property tests on fresh cases: ROUNDS=5 times, or for one SEED
	@bash .ci/explore "$(ROUNDS)" "$(SEED)"

mutate: $(READY) ## Plant COUNT=100 faults in a ROOM=units, and print those that its tests do not notice
	@PYTHONPATH=tests $(BIN)/python tests/long/mutate.py $(ROOM) $(or $(COUNT),100)

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

bench: $(READY) ## Measure every program in benchmarks/
	@for program in benchmarks/[!_]*.py; do echo "== $$program"; $(BIN)/python "$$program" || exit; done

build: $(READY) ## Build the wheel and the sdist into dist/
	@$(BIN)/python -m build --no-isolation

clean: ## Remove what the other targets made
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find sssjob tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml .ci/setup .ci/packages
	@bash .ci/setup $(PYTHON)
	@touch "$@"
