#include "CRapidJSON.h"
