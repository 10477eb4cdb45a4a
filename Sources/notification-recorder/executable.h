// The executable file of this process.

#ifndef EXECUTABLE_H
#define EXECUTABLE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/// True if the executable has Swift code, as far as its section headers tell.
bool executable_has_swift_code(void);

#pragma GCC visibility pop

#endif
