// What requests' metadata say, kept until they say something else: most of it comes only with the frame that it changed in.
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
