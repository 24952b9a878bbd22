// Here for the same reason as drm.h.
#ifndef CDRM_DRM_MODE_H
#define CDRM_DRM_MODE_H
#include <drm/drm_mode.h>
#endif
