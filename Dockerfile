# provisord, built and shipped on Debian 12. Packages come from ops/packages; ops/pin-images writes the digest of the base.
# What is in the image: docker run --rm --entrypoint cat IMAGE /usr/share/doc/provisor/sbom.spdx.json
# The image for jobs of a pipeline, with provisor and provisor-gate: docker build --target client -t provisor-client .
ARG BASE=debian:12-slim

FROM ${BASE} AS source
COPY ops/packages ops/install-packages ops/common.sh /src/ops/
RUN /src/ops/install-packages build site
COPY . /src

FROM source AS build-client
RUN meson setup -Dbuildtype=release -Dtests=false -Dsite=disabled -Dcli=enabled /build /src \
    && ninja -C /build clients/cli/provisor \
    && strip /build/clients/cli/provisor

# No entry point: a runner starts a shell in it.
FROM ${BASE} AS client
COPY ops/packages ops/install-packages ops/common.sh /tmp/ops/
RUN /tmp/ops/install-packages client \
    && rm -rf /tmp/ops /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
    && useradd --system --uid 10001 --user-group --create-home --shell /bin/sh provisor
COPY --from=build-client /build/clients/cli/provisor /usr/local/bin/provisor
COPY --from=source /src/clients/ci/shell/provisor-gate /usr/local/bin/provisor-gate
USER 10001:10001

FROM source AS build
RUN meson setup -Dbuildtype=release -Dtests=false -Dcli=disabled /build /src \
    && ninja -C /build service/provisord \
    && strip /build/service/provisord

FROM ${BASE} AS runtime
COPY ops/packages ops/install-packages ops/common.sh /tmp/ops/
RUN /tmp/ops/install-packages service \
    && rm -rf /tmp/ops /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin provisor

# The list of what is in it, made here because the image has no Python.
FROM build AS sbom
COPY --from=runtime /var/lib/dpkg /runtime/var/lib/dpkg
COPY --from=runtime /usr/share/doc /runtime/usr/share/doc
RUN /src/ops/sbom --program /build/service/provisord --root /runtime >/build/sbom.spdx.json

FROM runtime
COPY --from=build /build/service/provisord /usr/local/bin/provisord
COPY --from=sbom /build/sbom.spdx.json /usr/share/doc/provisor/sbom.spdx.json
COPY ops/health /usr/local/bin/provisord-health
USER 10001:10001
ENV PROVISOR_LISTEN_ADDRESS=0.0.0.0 PROVISOR_LISTEN_PORT=8080 \
    PROVISOR_HEALTH_ADDRESS=0.0.0.0 PROVISOR_HEALTH_PORT=8081
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["provisord-health", "/healthz"]
ENTRYPOINT ["provisord"]
CMD ["serve"]
