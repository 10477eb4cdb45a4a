// The methods of NotificationCenter, NotificationQueue and OperationQueue that this library replaces.

#ifndef CENTERS_H
#define CENTERS_H

#include "vtable.h"

#pragma GCC visibility push(hidden)

extern struct method center_methods[3];

#pragma GCC visibility pop

#endif
