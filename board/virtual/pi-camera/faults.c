// SPDX-License-Identifier: GPL-2.0
/* The faults as the module's parameters. */

#include <linux/module.h>

#include "faults.h"

struct faults faults;

#define FAULT(name, text)                                   \
	module_param_named(name, faults.name, uint, 0644);  \
	MODULE_PARM_DESC(name, text);
FOR_EACH_FAULT(FAULT)
#undef FAULT
