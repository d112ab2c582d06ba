# provisord, built and shipped on Debian 12. Packages come from ops/packages.
ARG BASE=debian:12-slim

FROM ${BASE} AS build
COPY ops/packages ops/install-packages ops/common.sh /src/ops/
RUN /src/ops/install-packages build
COPY . /src
RUN meson setup -Dbuildtype=release -Dtests=false /build /src \
    && ninja -C /build service/provisord \
    && strip /build/service/provisord

FROM ${BASE}
COPY ops/packages ops/install-packages ops/common.sh /tmp/ops/
RUN /tmp/ops/install-packages service \
    && rm -rf /tmp/ops /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin provisor
COPY --from=build /build/service/provisord /usr/local/bin/provisord
COPY ops/health /usr/local/bin/provisord-health
USER 10001:10001
ENV PROVISOR_LISTEN_ADDRESS=0.0.0.0 PROVISOR_LISTEN_PORT=8080 \
    PROVISOR_HEALTH_ADDRESS=0.0.0.0 PROVISOR_HEALTH_PORT=8081
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["provisord-health", "/healthz"]
ENTRYPOINT ["provisord"]
CMD ["serve"]
