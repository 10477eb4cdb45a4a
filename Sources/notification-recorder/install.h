// How the library takes its place in a process.

#ifndef INSTALL_H
#define INSTALL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/// True if NotificationCenter's methods were replaced.
extern bool is_installed;

#pragma GCC visibility pop

#endif
