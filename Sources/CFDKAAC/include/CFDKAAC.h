// The Fraunhofer FDK AAC encoder.
#ifndef CFDKAAC_H
#define CFDKAAC_H
#include <fdk-aac/aacenc_lib.h>
#endif
