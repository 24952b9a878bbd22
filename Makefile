# Everything is built and tested inside the build root (scripts/build-root),
# which is made on first use. Targets: make help.
.DEFAULT_GOAL := help
SHELL := /bin/bash

sources := $(shell find Sources Package.swift -type f -not -name '.*') scripts/build $(filter-out %/steps,$(wildcard scripts/build-root.d/*))
x86_64 := out/x86_64/tallycam
aarch64 := out/aarch64/tallycam
formatted := Package.swift Sources Tests Benchmarks/filters/filter-frames Fuzz/Package.swift Fuzz/Sources

.PHONY: help
help:
	@echo 'make build    out/x86_64/tallycam and out/aarch64/tallycam, both fully static'
	@echo 'make demo     15 s of live streaming on this machine, no hardware needed (from nothing: 750 MB, 4 to 10 minutes)'
	@echo 'make demo-image   docs/demo.png, drawn from a run of the demo'
	@echo 'make test     unit, check, integration and board tests, short fuzzing; ends with "N passed, N failed"'
	@echo 'make test-all the same with what takes many minutes and rarely finds anything: long fault mixes,'
	@echo '              power cuts, a soak'
	@echo 'make board-test   of these the board tests alone: the shipped ARM64 binary on an emulated board'
	@echo '                  (TEST=name: the tests whose name contains it)'
	@echo 'make board-shell  that board with its console here, for a person'
	@echo 'make image-virtual   out/virtual/sdcard.img: the SD card on Debian'"'"'s kernel, for the virtual board'
	@echo 'make power-cuts      50 power cuts of that board at random moments; each time it comes back (half an hour)'
	@echo 'make image BOARD=rpi4   an SD card image by Buildroot (rpi0_2w, rpi3, rpi4, rpi5); needs the internet'
	@echo 'make fuzz     10^8 executions of the fuzz targets; scripts/fuzz runs them for seconds'
	@echo 'make bench-publish   what publishing costs, beside ffmpeg, GStreamer and the least possible'
	@echo '                     (ARGUMENTS=--quick: a first impression)'
	@echo 'make bench-board     what a frame costs on a board: instructions, system calls, the way to the socket'
	@echo 'make bench-adapt     how live a stream stays on a failing uplink, and what a viewer sees, beside ffmpeg and GStreamer'
	@echo '                     (ARGUMENTS=--quick: natural content, Tallycam only; --lowest: Low1 alone)'
	@echo 'make bench-filters   what filters cost a frame: instructions and time, beside ffmpeg'
	@echo 'make bench-webcam    what a computer costs the board: instructions of a frame in each format, and of nobody who looks'
	@echo 'make soak     two days of media over a connection as fast as it goes, every timestamp compared'
	@echo 'make lint     swift-format, shellcheck, and the conventions of Buildroot'
	@echo 'make format   let swift-format rewrite the sources'
	@echo 'make clean    remove build outputs (the build root stays in its cache)'

# All that tests need is made beside each other, with the program's modules, rather than when something asks for it.
.PHONY: parts
parts:
	@scripts/build-root --ahead tests aarch64

.PHONY: build
build: $(x86_64) $(aarch64)
	@scripts/build --sizes

out/%/tallycam: $(sources)
	@scripts/build $*

.PHONY: demo
demo: $(x86_64)
	@scripts/demo

.PHONY: demo-image
demo-image: $(x86_64)
	@scripts/in-build-root python3 scripts/demo-image.py

.PHONY: test
test: parts build
	@scripts/test

.PHONY: test-all
test-all: parts build
	@scripts/test --all

.PHONY: board-test
board-test: $(aarch64)
	@scripts/test board $(if $(TEST),-k '$(TEST)')

.PHONY: board-shell
board-shell: $(aarch64)
	@scripts/in-build-root --tests --aarch64 python3 Tests/VirtualBoard/board.py

.PHONY: image-virtual
image-virtual: $(aarch64)
	@scripts/image-virtual

.PHONY: power-cuts
power-cuts: image-virtual
	@scripts/in-build-root --tests --aarch64 python3 Tests/VirtualBoard/power_cuts.py $(ARGUMENTS)

.PHONY: image
image: $(aarch64)
	@scripts/image $(BOARD)

.PHONY: fuzz
fuzz:
	@scripts/fuzz --executions 100000000

.PHONY: bench-publish
bench-publish: $(x86_64)
	@scripts/in-build-root --tests python3 Benchmarks/publish/run.py $(ARGUMENTS)

.PHONY: bench-board
bench-board: $(aarch64)
	@scripts/in-build-root --tests --aarch64 python3 Benchmarks/board/run.py $(ARGUMENTS)

.PHONY: bench-adapt
bench-adapt: $(x86_64)
	@scripts/in-build-root --tests python3 Benchmarks/adapt/run.py $(ARGUMENTS)

.PHONY: bench-filters
bench-filters:
	@scripts/in-build-root --tests python3 Benchmarks/filters/run.py $(ARGUMENTS)

.PHONY: bench-webcam
bench-webcam: $(aarch64)
	@scripts/in-build-root --tests --aarch64 python3 Benchmarks/board/webcam.py

.PHONY: soak
soak: $(x86_64)
	@scripts/in-build-root --tests python3 Benchmarks/soak/run.py $(ARGUMENTS)

.PHONY: lint
lint:
	@scripts/in-build-root swift format lint --strict --recursive $(formatted)
	@scripts/in-build-root --tests shellcheck --external-sources .ci/run $$(grep -rlE '^#!.*(bash|sh)$$' scripts board rootfs-overlay)
	@scripts/in-build-root --tests pytest-3 -q -c Tests/pytest.ini Tests/Checks/test_buildroot.py

.PHONY: format
format:
	@scripts/in-build-root swift format format --in-place --recursive $(formatted)

.PHONY: clean
clean:
	rm -rf .build* out
