ARG NODE_VERSION=24.22.3

FROM node:${NODE_VERSION}-bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends tini
RUN dpkg-query --status tini > /tini.status
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional are the programs of the embedded stack, and the bundler's compiler, which the next step needs.
RUN npm ci --omit=dev --omit=optional \
    && npm install --no-save --omit=dev --omit=optional \
      "@swc/core-linux-$(node -p process.arch)-gnu@$(node -p 'require("@swc/core/package.json").version')"
COPY process-one.mjs node-version.mjs ./
COPY contract contract
COPY temporal temporal
COPY workflows workflows
COPY worker worker
# The workflows as workers load them, so that the compiler stays behind.
RUN node worker/bundle.ts workflows.js && rm -r node_modules/@swc/core-linux-*
# Temporal's SDK brings native files of five platforms and their source. Node runs no TypeScript of packages,
# and nothing reads their types, source maps and pages.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      -not -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
    && rm -r node_modules/@temporalio/core-bridge/sdk-core node_modules/@types \
    && find node_modules -type f \( -regex '.*\.\(map\|[cm]?ts\)' -o -iname 'readme*' -o -iname 'changelog*' \) -delete

# Debian alone is what Node's image stands on, without npm, yarn and Node's headers.
FROM debian:bookworm-slim
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /usr/bin/tini /usr/bin/tini
# Where scanners look for packages of which dpkg knows nothing.
COPY --from=build /tini.status /var/lib/dpkg/status.d/tini
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/compile-cache \
    MALLOC_ARENA_MAX=2 \
    WORKFLOW_BUNDLE=/app/workflows.js
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/workflows.js workflows.js
COPY package.json process-one.mjs node-version.mjs config.ts environment.ts process.ts ./
COPY contract contract
COPY postgres postgres
COPY telemetry telemetry
COPY temporal temporal
COPY webhooks webhooks
COPY mail mail
COPY gateways gateways
COPY activities activities
COPY workflows workflows
COPY api api
COPY worker worker
COPY admin admin
# The console has it as a page.
COPY docs/operating/differences.md docs/operating/differences.md
# In a checkout made under umask 077 only the owner can read the files, and here that is root.
RUN find . -name node_modules -prune -o -exec chmod u=rwX,go=rX {} +
LABEL org.opencontainers.image.title="payments" \
      org.opencontainers.image.version="1.0.0"
# The user node of Node's image.
USER 1000:1000
# A signal has no effect on the first process before that listens, and Node needs some 50 ms for it.
ENTRYPOINT ["tini", "--"]
# Each service of docker-compose.yml names its entry.
CMD ["node", "admin/cli/main.ts", "--help"]
