#define _GNU_SOURCE
#include "CControl.h"

#include <malloc.h>
#include <stdatomic.h>
#include <time.h>

// MARK: Time

static int64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t CControlNow(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t CControlProcessTime(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

// MARK: Memory

size_t CControlBytesInUse(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static atomic_bool isCounting;
static _Atomic uint64_t allocations;

void CControlBeginCountingAllocations(void) {
    atomic_store(&allocations, 0);
    atomic_store(&isCounting, true);
}

uint64_t CControlEndCountingAllocations(void) {
    atomic_store(&isCounting, false);
    return atomic_load(&allocations);
}

static inline void count(void) {
    if (atomic_load_explicit(&isCounting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    }
}

// The functions of glibc, under the names that remain if a program defines malloc.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}
