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
	@echo 'make demo     15 s of live streaming on this machine, without hardware (the first time: 750 MB, 4 to 10 minutes)'
	@echo 'make demo-image   docs/demo.png, drawn from a run of the demo'
	@echo 'make test     unit, check, integration and board tests; ends with "N passed, N failed"'
	@echo 'make test-all the same with what takes its time and rarely finds anything: variants of'
	@echo '              tested behavior, long fault mixes, power cuts, a soak, fuzzing'
	@echo 'make board-test   only the board tests: the shipped ARM64 binary on an emulated board'
	@echo '                  (TEST=name: the tests whose name contains it)'
	@echo 'make board-shell  that board with its console here, for interactive use'
	@echo 'make image-virtual   out/virtual/sdcard.img: the SD card on Debian'"'"'s kernel, for the virtual board'
	@echo 'make power-cuts      50 power cuts of that board at random moments, with a check after each (half an hour)'
	@echo 'make image BOARD=rpi4   out/rpi4/sdcard.img (rpi0_2w, rpi3, rpi4, rpi5), with Raspberry Pi'"'"'s kernel; minutes'
	@echo '              (KERNEL=debian: from Debian alone; KERNEL=buildroot: all from source, hours; MANIFEST=out/rpi4/manifest:'
	@echo '              with the package versions of an earlier image of the same board and kernel)'
	@echo 'make fuzz     10^8 executions of the fuzz targets; scripts/fuzz alone runs them for seconds'
	@echo 'make bench-publish   the cost of publishing, compared with ffmpeg, GStreamer and the minimum'
	@echo '                     (ARGUMENTS=--quick: a first impression)'
	@echo 'make bench-board     the cost of a frame on a board: instructions, system calls, the path to the socket'
	@echo 'make bench-adapt     delay and quality for a viewer on a failing uplink, compared with ffmpeg and GStreamer'
	@echo '                     (ARGUMENTS=--quick: natural content, Tallycam only; --lowest: Low1 only)'
	@echo 'make bench-filters   the cost of filters per frame: instructions and time, compared with ffmpeg'
	@echo 'make bench-webcam    the cost of the webcam on a board: instructions per frame in each format, and while unused'
	@echo 'make bench-page      how far a browser'"'"'s preview is behind the camera, and what viewers cost the camera'
	@echo 'make bench-boot      the time from the kernel to prompt and network by stage, and from a press to the first frame,'
	@echo '                     in the instructions of an emulated Raspberry Pi 3B'
	@echo 'make soak     two days of media over a connection at full speed, with every timestamp compared'
	@echo 'make soak-device   an hour of recording and of publishing to two servers, whose memory must not grow'
	@echo 'make lint     swift-format, shellcheck, and Buildroot'"'"'s conventions'
	@echo 'make format   let swift-format rewrite the sources'
	@echo 'make clean    remove build outputs (the build root stays in its cache)'

# Everything that tests need is made at the same time, together with the program's modules, instead of one by one on demand.
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
test: parts $(x86_64)
	@scripts/test

.PHONY: test-all
test-all: parts $(x86_64)
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
	@TALLYCAM_MANIFEST='$(MANIFEST)' scripts/image $(if $(KERNEL),--kernel '$(KERNEL)') $(BOARD)

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

.PHONY: bench-page
bench-page: $(x86_64)
	@scripts/in-build-root --tests python3 Benchmarks/page/run.py $(ARGUMENTS)

.PHONY: bench-boot
bench-boot: $(aarch64)
	@scripts/in-build-root --tests --aarch64 python3 Benchmarks/board/boot.py $(ARGUMENTS)

.PHONY: soak
soak: $(x86_64)
	@scripts/in-build-root --tests python3 Benchmarks/soak/run.py $(ARGUMENTS)

.PHONY: soak-device
soak-device: $(x86_64)
	@scripts/in-build-root --tests python3 Benchmarks/soak/device.py $(ARGUMENTS)

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
