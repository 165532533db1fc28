# syntax=docker/dockerfile:1
# docker build -t cardea .                              the program and nothing else
# docker build -t cardea --build-arg CHROMIUM=yes .     with the browser the scanning service needs for remote browsing

FROM rust:1.95-slim-bookworm AS build
# The cryptography library is C and assembly. The second line is what the build watches the program with (.ci/dist).
RUN apt-get update \
 && apt-get install -y --no-install-recommends cmake g++ make \
 && apt-get install -y --no-install-recommends curl llvm-22 nginx-light nodejs redis-server valgrind wrk \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Cargo.toml Cargo.lock ./
COPY .cargo .cargo
COPY .ci .ci
COPY config config
COPY static static
COPY templates templates
COPY src src
COPY tests/bench tests/bench
# The manifest names the tests' entry file; an empty one is enough to build the program.
RUN mkdir -p tests/it && touch tests/it/main.rs
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    .ci/dist \
 && cp target/dist/cardea /cardea

FROM debian:bookworm-slim
ARG CHROMIUM=no
# fonts-droid-fallback: names of components in Chinese and Japanese in PDF reports.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates fonts-droid-fallback \
 && if [ "$CHROMIUM" = yes ]; then apt-get install -y --no-install-recommends chromium; fi \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home --home-dir /var/lib/cardea cardea
COPY --from=build /cardea /usr/local/bin/cardea
COPY LICENSE /usr/share/doc/cardea/LICENSE
USER 10001
WORKDIR /var/lib/cardea
VOLUME /var/lib/cardea
# 8080 is for users. 9090 is for operators (/metrics, /livez, /readyz): publish it to their network only.
EXPOSE 8080 9090
# Mount the settings and the secrets; see config/production.example.toml.
ENV CARDEA__GATEWAY__SERVER__LISTEN=0.0.0.0:8080
ENV CARDEA__GATEWAY__OPERATIONS__LISTEN=0.0.0.0:9090
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s --retries=3 \
  CMD ["cardea", "healthcheck", "--config", "/etc/cardea/cardea.toml"]
ENTRYPOINT ["cardea"]
CMD ["serve", "--config", "/etc/cardea/cardea.toml"]
