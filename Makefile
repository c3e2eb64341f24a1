PYTHON ?= python3
BIN := .venv/bin
UV := $(shell sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements/dev.txt)

.SILENT:
.PHONY: run test demo bench manage lint openapi messages examples pictures docs embedded dev install

# Runs everything on this machine until Ctrl-C. DATA_DIR and PORT choose where.
run: embedded
	exec $(BIN)/python -m config.stack run

test: dev
	exec $(BIN)/python -m pytest -n 2

demo bench: embedded
	exec $(BIN)/python -m config.stack $@

# Example: make manage ARGS="reconcile my-shop"
manage: embedded
	exec $(BIN)/python -m config.stack manage $(ARGS)

# The type checker loads the settings, which require these variables but don't connect.
lint: export SECRET_KEY := lint
lint: export DATABASE_URL := postgres://commerce_app@localhost/commerce
lint: export DATABASE_OWNER_URL := postgres://commerce_owner@localhost/commerce
lint: export REDIS_URL := redis://localhost
lint: dev
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy --no-error-summary .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -W ignore manage.py makemigrations --check --dry-run

# Regenerates docs/openapi.json and docs/errors.md. Tests compare the committed files with the code.
openapi: export SECRET_KEY := lint
openapi: export DATABASE_URL := postgres://commerce_app@localhost/commerce
openapi: export DATABASE_OWNER_URL := postgres://commerce_owner@localhost/commerce
openapi: export REDIS_URL := redis://localhost
openapi: dev
	$(BIN)/python manage.py spectacular --format openapi-json --file docs/openapi.json
	$(BIN)/python manage.py error_codes > docs/errors.md

# Collects the texts of the back office for translators, and compiles the translations (docs/backoffice.md).
messages: export SECRET_KEY := lint
messages: export DATABASE_URL := postgres://commerce_app@localhost/commerce
messages: export DATABASE_OWNER_URL := postgres://commerce_owner@localhost/commerce
messages: export REDIS_URL := redis://localhost
messages: dev
	$(BIN)/python manage.py messages

# Records the examples of the API document anew, from requests to the application. Then `make openapi` puts them in.
examples: dev
	RECORD_EXAMPLES=1 $(BIN)/python -m pytest -q -n 0 tests/examples

# Takes the pictures of the back office in docs/backoffice anew, during the test of a day's work.
pictures: dev
	PICTURES=1 $(BIN)/python -m pytest -q -n 0 tests/backoffice/day

# Builds the documentation as a site, which `make run` serves at /docs/guide/. Broken links and pages missing from mkdocs.yml fail.
docs: export NO_MKDOCS_2_WARNING := 1
docs: dev
	$(BIN)/mkdocs build --quiet

# The environment keeps a copy of the requirements that it was made from, to notice changes. Those for development
# include the embedded ones, so an environment for development is never downgraded.
embedded:
	cmp -s requirements/dev.txt .venv/dev.txt || cmp -s requirements/embedded.txt .venv/embedded.txt || \
		$(MAKE) --no-print-directory install LEVEL=$$(test -e .venv/dev.txt && echo dev || echo embedded)

dev:
	cmp -s requirements/dev.txt .venv/dev.txt || $(MAKE) --no-print-directory install LEVEL=dev

install:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is required. Name one with: make PYTHON=...")'
	echo "Installing requirements/$(LEVEL).txt into .venv."
	rm -f .venv/embedded.txt .venv/dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check $(UV) && \
		$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements/$(LEVEL).txt || \
		$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$(LEVEL).txt
	pwd > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/commerce.pth"
	cp requirements/$(LEVEL).txt .venv/
