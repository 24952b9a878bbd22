#include "CV4LConvert.h"
