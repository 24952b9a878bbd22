# Everything is built and tested inside the build root (scripts/build-root),
# which is made on first use. Targets: make help.
.DEFAULT_GOAL := help
SHELL := /bin/bash

sources := $(shell find Sources Package.swift -type f -not -name '.*') scripts/build $(wildcard scripts/build-root.d/*)
x86_64 := out/x86_64/tallycam
aarch64 := out/aarch64/tallycam
formatted := Package.swift Sources Tests Fuzz/Package.swift Fuzz/Sources

.PHONY: help
help:
	@echo 'make build    out/x86_64/tallycam and out/aarch64/tallycam, both fully static'
	@echo 'make demo     15 s of live streaming on this machine, no hardware needed'
	@echo 'make test     unit, check and integration tests; ends with "N passed, N failed"'
	@echo 'make fuzz     10^8 executions of the fuzz targets; scripts/fuzz runs them for seconds'
	@echo 'make bench-publish   what publishing costs, beside ffmpeg, GStreamer and the least possible'
	@echo '                     (ARGUMENTS=--quick: a first impression)'
	@echo 'make bench-adapt     how live a stream stays on a failing uplink, beside ffmpeg and GStreamer'
	@echo '                     (ARGUMENTS=--ours: Tallycam only)'
	@echo 'make lint     swift-format and shellcheck'
	@echo 'make format   let swift-format rewrite the sources'
	@echo 'make clean    remove build outputs (the build root stays in its cache)'

.PHONY: build
build: $(x86_64) $(aarch64)
	@scripts/build --sizes

out/%/tallycam: $(sources)
	@scripts/build $*

.PHONY: demo
demo: $(x86_64)
	@scripts/demo

.PHONY: test
test: build
	@scripts/test

.PHONY: fuzz
fuzz:
	@scripts/fuzz --executions 100000000

.PHONY: bench-publish
bench-publish: $(x86_64)
	@scripts/in-build-root python3 Benchmarks/publish/run.py $(ARGUMENTS)

.PHONY: bench-adapt
bench-adapt: $(x86_64)
	@scripts/in-build-root python3 Benchmarks/adapt/run.py $(ARGUMENTS)

.PHONY: lint
lint:
	@scripts/in-build-root swift format lint --strict --recursive $(formatted)
	@scripts/in-build-root shellcheck --external-sources .ci/run $$(grep -lE '^#!.*(bash|sh)$$' scripts/*)

.PHONY: format
format:
	@scripts/in-build-root swift format format --in-place --recursive $(formatted)

.PHONY: clean
clean:
	rm -rf .build* out
