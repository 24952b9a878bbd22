#ifndef CGPIOD_H
#define CGPIOD_H
#include <gpiod.h>
#endif
