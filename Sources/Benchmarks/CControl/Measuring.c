#define _GNU_SOURCE
#include "CControl.h"

#include <errno.h>
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

int64_t CControlProcessTime(int32_t process) {
    clockid_t clock;
    return clock_getcpuclockid(process, &clock) == 0 ? nanoseconds(clock) : 0;
}

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

// A sanitizer has a malloc of its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer) \
    || __has_feature(leak_sanitizer)
#define HAS_OWN_MALLOC 1
#endif
#endif

#ifdef HAS_OWN_MALLOC

bool CControlMeasuresMemory(void) { return false; }

#else

bool CControlMeasuresMemory(void) { return true; }

static inline void count(void) {
    if (atomic_load_explicit(&isCounting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    }
}

// The functions of glibc, under the names that remain if a program defines malloc.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

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

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    // posix_memalign returns its error and does not change errno.
    int before = errno;
    void *allocated = memalign(alignment, size);
    errno = before;
    if (allocated == NULL) return ENOMEM;
    *memory = allocated;
    return 0;
}

#endif
