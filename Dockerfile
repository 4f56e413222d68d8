# syntax=docker/dockerfile:1
ARG NODE_VERSION=24.21.0

# The workflows as workers load them: the bundler and its compiler stay behind.
FROM node:${NODE_VERSION}-bookworm-slim AS bundle
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY contract contract
COPY temporal temporal
COPY workflows workflows
COPY worker worker
RUN node worker/bundle.ts workflows.js

# Without the programs of the embedded stack and without the bundler's compiler.
FROM node:${NODE_VERSION}-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/compile-cache \
    MALLOC_ARENA_MAX=2 \
    WORKFLOW_BUNDLE=/app/workflows.js
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=bundle /app/workflows.js workflows.js
COPY package.json config.ts environment.ts process.ts ./
COPY contract contract
COPY postgres postgres
COPY telemetry telemetry
COPY temporal temporal
COPY webhooks webhooks
COPY gateways gateways
COPY activities activities
COPY workflows workflows
COPY api api
COPY worker worker
COPY admin admin
# A checkout under umask 077 is its owner's alone, and here that is root.
RUN find . -name node_modules -prune -o -exec chmod u=rwX,go=rX {} +
USER node
# Each service of docker-compose.yml says which entry it runs.
CMD ["node", "admin/main.ts", "--help"]
