# The sources with the documentation's site, which the web serves at /docs/guide/.
FROM python:3.11-slim AS sources

ENV NO_MKDOCS_2_WARNING=1
WORKDIR /app

COPY requirements/docs.txt requirements/
RUN pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/docs.txt

COPY . .
# The links between documents, code and tests are checked. Afterwards only the API document is needed.
RUN mkdocs build --quiet && mv docs/openapi.json . && rm -r docs/* tests && mv openapi.json docs/


FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 STATIC_ROOT=/app/static DATA_DIR=/data
WORKDIR /app

# `telemetry` installs what docs/operations.md, "Traces and errors", needs besides.
ARG EXTRA_REQUIREMENTS=
COPY requirements/*.txt requirements/
RUN pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/base.txt \
    ${EXTRA_REQUIREMENTS:+-r "requirements/${EXTRA_REQUIREMENTS}.txt"}

COPY --from=sources /app .
# Loading the settings requires these variables; collecting files connects to nothing.
RUN SECRET_KEY=build DATABASE_URL=postgres://build DATABASE_OWNER_URL=postgres://build REDIS_URL=redis://build \
    python manage.py collectstatic --no-input --verbosity=0

RUN useradd --system --uid 10001 commerce && install --directory --owner=commerce /data
USER 10001
EXPOSE 8000
CMD ["granian", "--interface", "rsgi", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--log-level", "warning", \
     "--http", "1", "--no-ws", "--backlog", "4096", "--backpressure", "16384", \
     "--http1-header-read-timeout", "60000", "--http1-buffer-size", "65536", \
     "--respawn-failed-workers", "--workers-kill-timeout", "5", "config.rsgi:application"]
