// Accumulates the requests' metadata, because most values are reported only with the frame in which they changed.
#ifndef CLIBCAMERA_REPORT_H
#define CLIBCAMERA_REPORT_H
#include "include/CLibcamera.h"

#include <libcamera/control_ids.h>
#include <libcamera/controls.h>

struct MetadataReport {
    clibcamera_report report;

    MetadataReport();
    void take(const libcamera::ControlList &metadata);
};

#endif
