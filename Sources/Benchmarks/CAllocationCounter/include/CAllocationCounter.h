// Counts what a program allocates. A program that has this target among its dependencies has its malloc, calloc,
// realloc, posix_memalign, aligned_alloc and memalign pass through here, which costs a load and a branch while nobody
// counts. Not for a library to depend upon: CControl finds it, if the program has it, by the names below.

#ifndef CALLOCATIONCOUNTER_H
#define CALLOCATIONCOUNTER_H

#include <stdint.h>

/// Counts the allocations of all threads from now on, from zero.
void CAllocationCounterBegin(void);

/// Stops counting.
/// @return how many there were.
uint64_t CAllocationCounterEnd(void);

#endif
