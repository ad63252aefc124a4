# The program, for deploy/compose.yaml and deploy/kubernetes. Built by: docker build --tag shop:1 .
# For search that ranks by meaning too, add requirements-semantic.lock to both lines that name requirements.lock.
FROM python:3.13-slim-trixie AS packages
WORKDIR /opt/shop
COPY requirements.lock ./
RUN python -m venv .venv \
 && .venv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: --requirement requirements.lock

FROM python:3.13-slim-trixie
# pg_dump, pg_restore and psql for backups, not older than the server of compose.yaml.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-client-17 \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --system --home-dir /var/lib/shop --shell /usr/sbin/nologin shop \
 && install --directory --mode 700 --owner shop --group shop /var/lib/shop /var/backups/shop
WORKDIR /opt/shop
COPY --from=packages /opt/shop/.venv .venv
COPY LICENSE pyproject.toml worker.py wsgi.py ./
COPY migrations migrations
# The admin shows the documents of its own release.
COPY docs docs
COPY app app
RUN .venv/bin/python -m compileall -q app migrations worker.py wsgi.py .venv/lib
# The program is root's and its folder read-only for the shop, which writes to INSTANCE_DIR and TMPDIR alone.
ENV PATH=/opt/shop/.venv/bin:$PATH \
    PYTHONPATH=/opt/shop \
    PYTHONDONTWRITEBYTECODE=1 \
    SHOP_ENV=production \
    INSTANCE_DIR=/var/lib/shop/instance \
    TMPDIR=/var/tmp \
    HOST=0.0.0.0 \
    MCP_HOST=0.0.0.0
USER 10001:10001
WORKDIR /var/lib/shop
EXPOSE 8000 8001
CMD ["python", "-m", "app.web.server"]
