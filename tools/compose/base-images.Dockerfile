# The images that docker-compose.yml names, for machines without a container registry: the projects' own
# programs on Debian, with the users, paths and tools that the real images have. images.ts gathers the
# programs and builds a target for each image.
FROM payments-test/debian AS node
RUN useradd --uid 1000 --create-home --shell /bin/bash node
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
    && mkdir -p /usr/local/etc \
    && echo 'cafile=/etc/ssl/certs/ca-certificates.crt' > /usr/local/etc/npmrc
CMD ["node"]

FROM payments-test/debian AS postgres
RUN groupadd --system --gid 999 postgres \
    && useradd --system --gid postgres --uid 999 --home-dir /var/lib/postgresql postgres \
    && apt-get update \
    && apt-get install -y --no-install-recommends gosu libgssapi-krb5-2 libicu72 liblz4-1 libreadline8 libssl3 libxml2 libzstd1 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/* \
    && install --directory --owner=postgres --group=postgres --mode=3777 /var/run/postgresql \
    && install --directory --owner=postgres --group=postgres /var/lib/postgresql
COPY postgres /usr/lib/postgresql/18
RUN sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" \
    "$(/usr/lib/postgresql/18/bin/pg_config --sharedir)/postgresql.conf.sample"
ENV LANG=C.UTF-8 PATH=$PATH:/usr/lib/postgresql/18/bin PG_MAJOR=18 PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
# Ours does without the real entry point.
ENTRYPOINT ["false"]

# Alpine's busybox in the real ones; Debian's lacks `nc -z`.
FROM payments-test/debian AS small
RUN apt-get update \
    && apt-get install -y --no-install-recommends busybox-static libcap2-bin netcat-openbsd \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/* \
    && ln -sf /bin/busybox /bin/sh \
    && ln -s /bin/busybox /usr/local/bin/wget

FROM small AS temporal
RUN useradd --uid 1000 --create-home temporal
COPY temporal-server /usr/local/bin/temporal-server
COPY temporal-entrypoint.sh /etc/temporal/entrypoint.sh
RUN chown temporal /etc/temporal
WORKDIR /etc/temporal
USER temporal
ENTRYPOINT []
CMD ["/etc/temporal/entrypoint.sh"]

FROM small AS temporal-tools
COPY temporal temporal-sql-tool /usr/local/bin/

FROM small AS temporal-ui
RUN useradd --uid 5000 ui-server
WORKDIR /srv/ui-server
COPY ui-server ./
COPY ui-config config
USER ui-server
ENTRYPOINT ["./ui-server", "--env", "docker", "start"]

FROM small AS caddy
COPY caddy /usr/bin/caddy
RUN setcap cap_net_bind_service=+ep /usr/bin/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
VOLUME /config /data
WORKDIR /srv
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]

FROM small AS prometheus
COPY prometheus /bin/prometheus
RUN install --directory --owner=65534 --group=65534 /prometheus
WORKDIR /prometheus
USER 65534
VOLUME /prometheus
ENTRYPOINT ["/bin/prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]

FROM small AS alertmanager
COPY alertmanager amtool /bin/
RUN install --directory --owner=65534 --group=65534 /alertmanager
USER 65534
VOLUME /alertmanager
ENTRYPOINT ["/bin/alertmanager"]

# Debian's: the Go module proxy does not have it. Busybox has a dpkg of its own.
FROM payments-test/debian AS blackbox
RUN apt-get update \
    && cd /tmp \
    && apt-get download prometheus-blackbox-exporter \
    && dpkg --extract prometheus-blackbox-exporter_*.deb unpacked \
    && mv unpacked/usr/bin/prometheus-blackbox-exporter /bin/blackbox_exporter \
    && rm -rf /tmp/* /var/lib/apt/lists/* /var/cache/apt/archives/*
USER 6170
ENTRYPOINT ["/bin/blackbox_exporter"]

FROM small AS disk
COPY node_exporter /bin/node_exporter
USER 65534
ENTRYPOINT ["/bin/node_exporter"]
