/* SPDX-License-Identifier: GPL-2.0 */
/* The tests' parameters: faults, which can be changed at any time, and values that are set once on loading. */
#ifndef VIRTUAL_PI_CAMERA_FAULTS_H
#define VIRTUAL_PI_CAMERA_FAULTS_H

#include <linux/types.h>

/* Bits of refuse_controls. */
#define REFUSE_SENSOR 1
#define REFUSE_LENS 2
#define REFUSE_ISP 4

#define FOR_EACH_FAULT(FAULT)                                                                                    \
	FAULT(silent, "the sensor sends nothing while this is set, and goes on with its sequence afterwards")   \
	FAULT(skip_every, "every n-th frame is lost between sensor and memory; the sequence counts it")         \
	FAULT(no_embedded, "no line of embedded data arrives while this is set")                                \
	FAULT(wrong_embedded, "embedded data is not what the sensor's tags promise")                            \
	FAULT(no_statistics, "the ISP never gives statistics while this is set")                                \
	FAULT(lens_stuck, "the lens takes its control and does not move")                                       \
	FAULT(refuse_controls, "bits: a write fails with EIO of 1 the sensor, 2 the lens, 4 the ISP")           \
	FAULT(fail_start, "the sensor does not answer when it is started: STREAMON fails with EIO")             \
	FAULT(heap_full, "the heap has no memory: its allocations fail with ENOMEM")

struct faults {
#define FAULT(name, text) uint name;
	FOR_EACH_FAULT(FAULT)
#undef FAULT
};

extern struct faults faults;

#endif
