# One image runs the service, the operator's command line and the migrations, on amd64 and arm64.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# better-sqlite3 13 contains its binaries. Its version 12, which an installation script would build, is for Node 20 (decision 0023).
RUN npm ci --ignore-scripts
COPY nest-cli.json tsconfig.json tsconfig.build.json rolldown.config.ts ormconfig.ts LICENSE ./
COPY src ./src
COPY tools/client-package.ts tools/guide.ts tools/image-files.ts tools/postman.ts tools/served-files.ts ./tools/
COPY docs/guide ./docs/guide
COPY openapi/openapi.json ./openapi/
COPY clients/typescript/LICENSE clients/typescript/README.md clients/typescript/package.json clients/typescript/tsconfig.json ./clients/typescript/
COPY clients/typescript/src ./clients/typescript/src
COPY examples/mcp-server/README.md ./examples/mcp-server/
COPY CHANGELOG.md ./
RUN npm run build && node dist/tools/image-files.js /image

FROM node:24-bookworm-slim
ENV NODE_ENV=production METRICS_HOST=container
WORKDIR /app
COPY --from=build /image ./
# The service needs node, but none of its package managers.
RUN mkdir data && chown node:node data \
 && ln -s /app/dist/src/bundle/cli.js /usr/local/bin/devplatform \
 && rm -rf /opt/yarn-* /usr/local/lib/node_modules \
 && rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
# Fills the compile cache, with which both programs start a quarter to a third faster. Node keeps a cache for each uid, so the user 1000
# fills it. Afterwards this user can only read it, so that a compromised process cannot replace code.
RUN export NODE_ENV=development DEMO=0 DATABASE_URL=sqlite:/tmp/empty.sqlite CACHE=dist/src/bundle/compile-cache \
 && mkdir $CACHE && chown node:node $CACHE \
 && setpriv --reuid=1000 --regid=1000 --clear-groups sh -c 'devplatform db migrate && devplatform app list && timeout --preserve-status 30 node dist/src/bundle/main.js' \
 && rm /tmp/empty.sqlite* && chown -R root:root $CACHE && chmod -R a+rX $CACHE
# The uid of the user "node". Kubernetes' runAsNonRoot needs a number instead of a name.
USER 1000
# The root file system may be read-only. The service writes to this folder only, and with MySQL or MariaDB to none.
VOLUME /app/data
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Starts node directly instead of npm, so that the service receives SIGTERM. It needs no init process: it starts no other processes.
CMD ["node", "dist/src/bundle/main.js"]
