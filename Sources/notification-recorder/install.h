// How the library takes its place in a process.

#ifndef INSTALL_H
#define INSTALL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/// True if NotificationCenter's methods were replaced.
extern bool is_installed;

/// Writes a line that says that the use of Foundation is not recorded, if the program loaded it after it began. A
/// function of Foundation was called.
void note_late_foundation(void);

#pragma GCC visibility pop

#endif
