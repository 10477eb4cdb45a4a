#define _GNU_SOURCE
#include "CControlTally.h"
#include "CControl.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct CControlTally {
    uint64_t size;
    int32_t observers;
    /// The number of observers that are ready, and then of those that have handled all that is expected.
    _Atomic int32_t reached;
    /// Two counters: `finished` counts the times that all observers were ready or had handled everything, and is the
    /// futex of a wait; `waits` counts the waits that have succeeded.
    _Atomic uint32_t finished;
    uint32_t waits;
    _Atomic uint64_t goal;
    _Atomic int64_t doneAt;
    _Atomic uint64_t missed;
    /// Each in a cache line of its own, because several processes count at the same time.
    struct { _Alignas(64) _Atomic uint64_t count; } handled[];
};

CControlTally *CControlTallyCreate(int observers, int *descriptor) {
    size_t size = sizeof(CControlTally) + (size_t)observers * sizeof(((CControlTally *)NULL)->handled[0]);
    int memory = memfd_create("tally", MFD_CLOEXEC);
    if (memory < 0) return NULL;
    void *tally = ftruncate(memory, (off_t)size) == 0
        ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) : MAP_FAILED;
    if (tally == MAP_FAILED) {
        int error = errno;
        close(memory);
        errno = error;
        return NULL;
    }
    ((CControlTally *)tally)->size = size;
    ((CControlTally *)tally)->observers = observers;
    *descriptor = memory;
    return tally;
}

CControlTally *CControlTallyMap(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || (size_t)status.st_size < sizeof(CControlTally)) return NULL;
    CControlTally *tally =
        mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (tally == MAP_FAILED) return NULL;
    if (tally->size == (uint64_t)status.st_size) return tally;
    munmap(tally, (size_t)status.st_size);
    return NULL;
}

int CControlTallyObservers(CControlTally *tally) { return tally->observers; }

void CControlTallyUnmap(CControlTally *tally) { munmap(tally, tally->size); }

static void finish(CControlTally *tally) {
    atomic_store(&tally->doneAt, CControlNow());
    atomic_fetch_add(&tally->finished, 1);
    // A shared futex, because the other process sleeps on it.
    syscall(SYS_futex, &tally->finished, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void CControlTallySetReady(CControlTally *tally, int count) {
    if (atomic_fetch_add(&tally->reached, count) + count == tally->observers) finish(tally);
}

void CControlTallyHandle(CControlTally *tally, int observer, uint64_t count) {
    uint64_t before = atomic_fetch_add(&tally->handled[observer].count, count);
    uint64_t goal = atomic_load(&tally->goal);
    if (before < goal && before + count >= goal && atomic_fetch_add(&tally->reached, 1) + 1 == tally->observers)
        finish(tally);
}

void CControlTallyMiss(CControlTally *tally, int observer, uint64_t count) {
    atomic_fetch_add(&tally->missed, count);
    CControlTallyHandle(tally, observer, count);
}

void CControlTallyExpect(CControlTally *tally, uint64_t count) {
    atomic_store(&tally->reached, 0);
    atomic_fetch_add(&tally->goal, count);
}

bool CControlTallyWait(CControlTally *tally, int64_t limit) {
    int64_t deadline = CControlNow() + limit;
    uint32_t finished;
    while ((finished = atomic_load(&tally->finished)) == tally->waits) {
        int64_t left = deadline - CControlNow();
        if (left <= 0) return false;
        struct timespec time = {left / 1000000000, left % 1000000000};
        syscall(SYS_futex, &tally->finished, FUTEX_WAIT, finished, &time, NULL, 0);
    }
    tally->waits++;
    return true;
}

int64_t CControlTallyDoneAt(CControlTally *tally) { return atomic_load(&tally->doneAt); }

uint64_t CControlTallyLeast(CControlTally *tally) {
    uint64_t least = UINT64_MAX;
    for (int observer = 0; observer < tally->observers; observer++) {
        uint64_t handled = atomic_load_explicit(&tally->handled[observer].count, memory_order_relaxed);
        if (handled < least) least = handled;
    }
    return least;
}

uint64_t CControlTallyMost(CControlTally *tally) {
    uint64_t most = 0;
    for (int observer = 0; observer < tally->observers; observer++) {
        uint64_t handled = atomic_load_explicit(&tally->handled[observer].count, memory_order_relaxed);
        if (handled > most) most = handled;
    }
    return most;
}

uint64_t CControlTallyMissed(CControlTally *tally) { return atomic_load(&tally->missed); }
