# One image runs the service, the operator's command line and the migrations.
FROM node:24-bookworm-slim AS build
# Builds better-sqlite3 on platforms without a prebuilt binary.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 make g++ \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json rolldown.config.ts ormconfig.ts ./
COPY src ./src
COPY docs/integrate.md ./docs/
# better-sqlite3 12 is for Node 20 (decision 0023).
RUN npm run build && npm prune --omit=dev && rm -rf node_modules/better-sqlite3

FROM node:24-bookworm-slim
ENV NODE_ENV=production METRICS_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
RUN mkdir data && chown node:node data
# The uid of the user "node". Kubernetes' runAsNonRoot needs a number instead of a name.
USER 1000
VOLUME /app/data
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Starts node directly instead of npm, so that the service receives SIGTERM.
CMD ["node", "dist/src/bundle/main.js"]
