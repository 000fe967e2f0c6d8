# Short names for the commands of manage.py; nothing here that they cannot do alone.
.PHONY: up simulate down test lint verify image

up:
	python3 manage.py up

simulate:
	python3 manage.py up --simulate

down:
	python3 manage.py down

test:
	python3 manage.py test

lint:
	.venv/bin/ruff check .
	.venv/bin/lint-imports
	.venv/bin/mypy .

verify:
	python3 manage.py verify

image:
	docker build -f docker/Dockerfile -t jackpot:local .
