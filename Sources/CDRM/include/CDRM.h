// libdrm's calls for display devices.
#ifndef CDRM_H
#define CDRM_H
#include "drm.h"
#include "drm_mode.h"
#include <xf86drm.h>
#include <xf86drmMode.h>
#endif
