// The executable file of this process.

#ifndef EXECUTABLE_H
#define EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/// Copies the path of the executable to memory of `size` bytes. False if it is not known.
bool copy_executable_path(char *path, size_t size);

/// True if the executable has Swift code, as far as its section headers tell.
bool executable_has_swift_code(void);

#pragma GCC visibility pop

#endif
