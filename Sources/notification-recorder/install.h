// How the library takes its place in a process.

#ifndef INSTALL_H
#define INSTALL_H

#include <stdbool.h>

/// True if NotificationCenter's methods were replaced.
extern bool is_installed;

#endif
