// libv4lconvert: decodes webcam formats to I420.
#ifndef CV4LCONVERT_H
#define CV4LCONVERT_H
#include <stdlib.h>
#include <libv4lconvert.h>
#include <libv4l-plugin.h>
#endif
