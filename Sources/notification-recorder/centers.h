// The methods of NotificationCenter, NotificationQueue and OperationQueue that this library replaces.

#ifndef CENTERS_H
#define CENTERS_H

#include "vtable.h"

extern struct method center_methods[3];

#endif
