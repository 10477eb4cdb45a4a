// Counts the allocations of a program. In a program that depends on this target, it replaces malloc, calloc, realloc,
// posix_memalign, aligned_alloc and memalign, which costs a load and a branch while nothing is counted. Libraries do
// not depend on it: CControl finds it by the names below if the program has it.

#ifndef CALLOCATIONCOUNTER_H
#define CALLOCATIONCOUNTER_H

#include <stdint.h>

/// Starts to count the allocations of all threads, from zero.
void CAllocationCounterBegin(void);

/// Stops counting.
/// @return the number of allocations.
uint64_t CAllocationCounterEnd(void);

#endif
