/* SPDX-License-Identifier: GPL-2.0 */
/* The image signal processor's statistics, in the layout of the Raspberry Pi's driver, bcm2835-isp. */
#ifndef VIRTUAL_PI_CAMERA_STATISTICS_H
#define VIRTUAL_PI_CAMERA_STATISTICS_H

#include <linux/types.h>

#include "sensor.h"

#define HISTOGRAMS 2
#define HISTOGRAM_BINS 128
#define AWB_COLUMNS 16
#define AWB_ROWS 12
#define FLOATING_REGIONS 16
#define AGC_REGIONS 16
#define FOCUS_COLUMNS 4
#define FOCUS_ROWS 3
#define FOCUS_REGIONS (FOCUS_COLUMNS * FOCUS_ROWS)

struct histogram {
	u32 r[HISTOGRAM_BINS], g[HISTOGRAM_BINS], b[HISTOGRAM_BINS];
};

/* Sums of 13 bits over squares of two by two pixels, without the saturated ones. */
struct region {
	u32 counted, not_counted;
	u64 r_sum, g_sum, b_sum;
};

struct focus_region {
	u64 contrast[2][2];
	u32 count[2][2];
};

struct statistics {
	u32 version, size;
	struct histogram histograms[HISTOGRAMS];
	struct region awb[AWB_COLUMNS * AWB_ROWS];
	struct region floating[FLOATING_REGIONS];
	struct region agc[AGC_REGIONS];
	struct focus_region focus[FOCUS_REGIONS];
};
static_assert(sizeof(struct statistics) == 10824);

void statistics_fill(const struct frame_record *record, struct statistics *statistics);

#endif
