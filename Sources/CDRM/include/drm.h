// libdrm's headers include this one without its folder, which Swift's importer does not search.
#ifndef CDRM_DRM_H
#define CDRM_DRM_H
#include <drm/drm.h>
#endif
