// SPDX-License-Identifier: GPL-2.0
/* The module's parameters. */

#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "faults.h"

struct faults faults = { .stall_opens = -1, .stop_ms = 2000, .memory_errno = EPERM };

#define FAULT(name, text)                                   \
	module_param_named(name, faults.name, uint, 0644);  \
	MODULE_PARM_DESC(name, text);
FOR_EACH_FAULT(FAULT)
#undef FAULT

module_param_named(stall_opens, faults.stall_opens, int, 0644);
MODULE_PARM_DESC(stall_opens, "in how many openings of the encoder stall_after and swallow_after take effect; -1: each");

bool other_maker;
module_param(other_maker, bool, 0444);
MODULE_PARM_DESC(other_maker, "single-planar, whole macroblocks with a crop, SPS and PPS in a buffer of their own at "
		 "every keyframe, few controls, any memory, another name and number");

bool any_memory;
module_param(any_memory, bool, 0444);
MODULE_PARM_DESC(any_memory, "buffers need not be contiguous, as for an encoder with an IOMMU of its own");

atomic_t openings = ATOMIC_INIT(0);
static int get_opened(char *buffer, const struct kernel_param *parameter)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&openings));
}
static const struct kernel_param_ops opened_ops = { .get = get_opened };
module_param_cb(opened, &opened_ops, NULL, 0444);
MODULE_PARM_DESC(opened, "how many times buffers were asked for since the module was loaded");

void hang_while(const uint *fault)
{
	while (READ_ONCE(*fault) && !fatal_signal_pending(current))
		msleep(50);
}
