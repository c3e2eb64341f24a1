FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 STATIC_ROOT=/app/static DATA_DIR=/data
WORKDIR /app

COPY requirements/base.txt requirements/
RUN pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/base.txt

COPY . .
# The settings want to be complete; collecting files connects to nothing.
RUN SECRET_KEY=build DATABASE_URL=postgres://build DATABASE_OWNER_URL=postgres://build REDIS_URL=redis://build \
    python manage.py collectstatic --no-input --verbosity=0

RUN useradd --system --uid 10001 commerce && install --directory --owner=commerce /data
USER commerce
EXPOSE 8000
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8000", "--no-ws", "--workers", "2", \
     "--blocking-threads", "4", "--backlog", "1024", "--log-level", "warning", "--respawn-failed-workers", \
     "--workers-kill-timeout", "5", "config.wsgi:application"]
