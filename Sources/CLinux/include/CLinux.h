// Functions of glibc that Swift's Glibc module does not offer, because it is built without _GNU_SOURCE, and inline
// functions that use types of them.

#ifndef CLINUX_H
#define CLINUX_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "CLinuxSocket.h"

extern long syscall(long number, ...);

/// The kernel's id of the calling thread; the main thread's equals the process id.
extern pid_t gettid(void);

/// Sets the name of a thread in `/proc`, debuggers and `top -H`; at most 15 bytes.
extern int pthread_setname_np(pthread_t thread, const char *name);

extern int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *deadline);
extern int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *deadline);
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline);

/// The first occurrence of some bytes in others; null if there is none.
extern void *memmem(const void *bytes, size_t length, const void *searched, size_t searched_length);

/// Null unless the program was built with the thread sanitizer.
extern void __tsan_acquire(void *address) __attribute__((weak));

/// The time of a clock that is `nanoseconds` from now. A negative number counts as zero.
static inline struct timespec CLinuxDeadline(clockid_t clock, int64_t nanoseconds) {
    struct timespec deadline;
    clock_gettime(clock, &deadline);
    if (nanoseconds < 0) nanoseconds = 0;
    deadline.tv_sec += nanoseconds / 1000000000;
    deadline.tv_nsec += nanoseconds % 1000000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec += 1;
        deadline.tv_nsec -= 1000000000;
    }
    return deadline;
}

/// Waits until `thread` has ended and its thread-specific storage was destroyed. Returns ETIMEDOUT after `nanoseconds`;
/// the thread may then be joined later. Inline, because in Swift struct timespec belongs to the first module that
/// includes <time.h>.
static inline int CLinuxJoinThread(pthread_t thread, int64_t nanoseconds) {
    // The thread sanitizer does not know pthread_clockjoin_np, so with it the wall clock is used.
    if (__tsan_acquire) {
        struct timespec deadline = CLinuxDeadline(CLOCK_REALTIME, nanoseconds);
        return pthread_timedjoin_np(thread, NULL, &deadline);
    }
    struct timespec deadline = CLinuxDeadline(CLOCK_MONOTONIC, nanoseconds);
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &deadline);
}

/// Waits for a signal of `semaphore`. Returns false after `nanoseconds` of the monotonic clock.
static inline bool CLinuxWaitForSemaphore(sem_t *semaphore, int64_t nanoseconds) {
    struct timespec deadline = CLinuxDeadline(CLOCK_MONOTONIC, nanoseconds);
    while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline) != 0) {
        if (errno != EINTR) return false;
    }
    // The thread sanitizer does not know that sem_clockwait synchronises with the signal.
    if (__tsan_acquire) __tsan_acquire(semaphore);
    return true;
}

/// Initialises an adaptive mutex: a thread spins for a moment before it sleeps, because the mutex is held only briefly.
/// Inline, because glibc declares the kind, PTHREAD_MUTEX_ADAPTIVE_NP, with _GNU_SOURCE only.
static inline void CLinuxInitializeMutex(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, 3);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

extern bool swift_isDeallocating(const void *object) __attribute__((weak));

/// True if the object's deinit runs or has run. Unlike loading a weak reference, it does not retain the object. It asks
/// a private function of the Swift runtime; where that is missing, every object counts as alive.
static inline bool CLinuxIsDeallocating(const void *object) {
    return swift_isDeallocating && swift_isDeallocating(object);
}

/// Asks the scheduler for short time slices for the calling thread, so that it runs as soon as it is woken, before a
/// thread with longer slices that runs on the same processor. Its share of processor time and its priority stay.
/// Threads and processes that it starts have the system's slices. Kernels before 6.12 ignore the request.
static inline void CLinuxRequestShortTimeSlices(void) {
    // glibc declares neither the structure nor the functions before 2.41.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t niceness;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    if (syscall(SYS_sched_getattr, 0, &attributes, (unsigned int)sizeof attributes, 0) != 0) return;
    // In other policies than SCHED_OTHER, `runtime` has another meaning. A thread of higher priority runs soon anyway,
    // and SCHED_FLAG_RESET_ON_FORK would reset the priority of the threads that it starts.
    if (attributes.policy != 0 || attributes.niceness < 0) return;
    attributes.flags = 1;  // SCHED_FLAG_RESET_ON_FORK
    attributes.runtime = 100000;  // ns, the kernel's minimum
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// Opens a descriptor of a process (pidfd), which becomes readable when the process ends. Returns -1, with errno, on
/// failure. It uses the number of the system call, which is the same on all architectures, because glibc has the
/// function only since 2.36.
static inline int CLinuxOpenProcess(pid_t process) { return (int)syscall(434, process, 0); }

/// Sends a signal to the process of a pidfd. Returns -1, with errno, if the process has ended.
static inline int CLinuxSignalProcess(int descriptor, int signal) {
    return (int)syscall(424, descriptor, signal, NULL, 0);
}

/// Opens a file in memory that exec closes. Returns -1, with errno, on failure.
static inline int CLinuxOpenMemoryFile(void) { return (int)syscall(SYS_memfd_create, "", 1); }

/// The monotonic clock, in nanoseconds.
static inline uint64_t CLinuxMonotonicNanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/// Calls epoll_ctl; `operation` is EPOLL_CTL_ADD, MOD or DEL. Returns 0, or an errno. Inline, because struct
/// epoll_event is packed, which Swift does not support.
static inline int CLinuxWatch(int poll, int operation, int descriptor, uint32_t events, uint64_t data) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = data;
    return epoll_ctl(poll, operation, descriptor, &event) == 0 ? 0 : errno;
}

/// A private function of libdispatch: the eventfd that is readable when the main queue has something to do.
extern int CLinuxMainQueueEvent(void) __asm__("_dispatch_get_main_queue_handle_4CF") __attribute__((weak));

/// A private function of libdispatch, with which a run loop calls the blocks of the main queue. In a block of the main
/// queue it does nothing. The argument is not used.
extern void CLinuxCallMainQueue(void *unused) __asm__("_dispatch_main_queue_callback_4CF") __attribute__((weak));

/// True if libdispatch has both functions. Otherwise neither may be called.
static inline bool CLinuxServesMainQueue(void) { return CLinuxMainQueueEvent && CLinuxCallMainQueue; }

/// Calls epoll_wait and writes the events and the data of each event, of at most 256. `milliseconds` of -1 means no
/// timeout. Returns the number of events, or -1.
static inline int CLinuxWaitForEvents(int poll, uint32_t *events, uint64_t *data, int limit, int milliseconds) {
    struct epoll_event found[256];
    int count = epoll_wait(poll, found, limit < 256 ? limit : 256, milliseconds);
    for (int index = 0; index < count; index++) {
        events[index] = found[index].events;
        data[index] = found[index].data.u64;
    }
    return count;
}

/// Sleeps. It sets the thread's timer slack to 1 ns; the default would add up to 50 microseconds.
static inline void CLinuxNap(int64_t nanoseconds) {
    static __thread bool isExact;
    if (!isExact) isExact = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
    struct timespec nap = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

/// Raises the soft limit of a resource (RLIMIT_NOFILE, …) to `wanted`, or to the hard limit if that is lower. Returns
/// the soft limit that is then in effect; RLIM_INFINITY is the highest.
static inline uint64_t CLinuxRaiseResourceLimit(int resource, uint64_t wanted) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return RLIM_INFINITY;
    if (limit.rlim_cur >= wanted) return limit.rlim_cur;
    struct rlimit raised = {wanted < limit.rlim_max ? wanted : limit.rlim_max, limit.rlim_max};
    return setrlimit(resource, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

/// True if this process has rights that its user does not have: it was executed with set-user-id,
/// set-group-id or file capabilities (AT_SECURE), or its real and effective ids differ. Then no path may be taken from
/// its environment, which may come from a user with fewer rights. Cost: at most four system calls.
static inline bool CLinuxRunsWithOthersRights(void) {
    return getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
}

/// The value of an environment variable. NULL if it is not set, or if `CLinuxRunsWithOthersRights()`.
static inline const char *CLinuxEnvironment(const char *name) {
    return CLinuxRunsWithOthersRights() ? NULL : getenv(name);
}

#endif
