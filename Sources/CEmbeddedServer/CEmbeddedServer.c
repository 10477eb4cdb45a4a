#define _GNU_SOURCE
#include "CEmbeddedServer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CLinux.h"

// MARK: Being the server

/// Implemented in Swift, in DistributedNotifications. Does not return.
extern void DistributedNotificationsServe(int argc, char **argv);

/// This object's ELF header, which the linker provides.
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool isLinked;

bool CEmbeddedServerIsLinked(void) { return isLinked; }

/// Whether this code is in the program's own file, or in a library that the program links. A library that dlopen loads
/// is not in the program's scope while the library's constructors run.
static bool isPartOfProgram(void) {
    if ((uintptr_t)&__ehdr_start + __ehdr_start.e_phoff == getauxval(AT_PHDR)) return true;
    void *program = dlopen(NULL, RTLD_LAZY);
    return program != NULL && dlsym(program, "CEmbeddedServerStart") == (void *)CEmbeddedServerStart;
}

/// Writes how /proc names a pipe, which no other pipe is called while this one is open.
static bool describePipe(int descriptor, char name[static 32]) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return false;
    snprintf(name, 32, "pipe:[%llu]", (unsigned long long)status.st_ino);
    return true;
}

/// Whether `CEmbeddedServerStart` executed this process: the last argument names the pipe that it has as a descriptor.
static bool isCopy(int argc, char **argv) {
    char name[32];
    return argc == CEmbeddedServerArguments && argv != NULL && strcmp(argv[0], CEmbeddedServerName) == 0
        && describePipe(CEmbeddedServerReadiness, name) && strcmp(argv[argc - 1], name) == 0;
}

// glibc gives constructors what it gives main. The default priority comes after the Swift runtime's own constructor, which
// is first in the link line. A copy never continues into main, which belongs to the program and knows nothing of it.
__attribute__((constructor)) static void serve(int argc, char **argv, char **environment) {
    (void)environment;
    isLinked = isPartOfProgram();
    if (!isCopy(argc, argv)) return;
    // A user must not be able to choose what a program with more rights does by choosing its arguments.
    if (CLinuxRunsWithOthersRights()) {
        static const char problem[] = "gained rights when it was executed (set-user-id, set-group-id or file "
                                      "capabilities), and such a program never serves";
        ssize_t written = write(CEmbeddedServerReadiness, problem, sizeof problem - 1);
        (void)written;
        _exit(CEmbeddedServerHasOthersRights);
    }
    DistributedNotificationsServe(argc, argv);
}

// MARK: Starting it

// Three processes share this one's memory for a moment: the caller, a starter and the server. Each stands still until the
// next has ended or executed. Only functions that may be called in signal handlers are, and no sanitizer's code runs.
#if defined(__clang__)
#define PLAIN __attribute__((noinline, disable_sanitizer_instrumentation))
#else
#define PLAIN __attribute__((noinline))
#endif

// The thread sanitizer replaces clone by what it does at fork, which is wrong if memory is shared.
#if defined(__GLIBC__)
extern int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
#else
#define __clone clone
#endif

enum { stackSize = 32 << 10 };

struct Start {
    int listener, readinessOut, readinessIn, devNull;
    char *const *arguments;
    struct timespec deadline;
    struct CEmbeddedServerOutcome outcome;
    _Alignas(16) char starterStack[stackSize];
    _Alignas(16) char serverStack[stackSize];
};

// The system calls themselves where sanitizers replace a function to keep books about descriptors, signals and waiting: the
// books would be the caller's.
PLAIN static int closeDescriptor(int descriptor) { return (int)syscall(SYS_close, descriptor); }
PLAIN static int copyAbove(int descriptor, int least) { return (int)syscall(SYS_fcntl, descriptor, F_DUPFD, least); }
PLAIN static int copyTo(int descriptor, int number) { return (int)syscall(SYS_dup3, descriptor, number, 0); }
PLAIN static pid_t waitFor(pid_t process, int *status, int options) {
    return (pid_t)syscall(SYS_wait4, process, status, options, NULL);
}
struct KernelAction { void *handler; unsigned long flags; void *restorer; uint64_t mask; };
enum { kernelMaskSize = 8, signals = 64 };

PLAIN static int fail(struct Start *start, const char *what) {
    start->outcome.error = errno;
    start->outcome.failed = what;
    return 127;
}

PLAIN static void closeRange(unsigned first, unsigned last) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
    // A kernel before 5.9.
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1 << 20) limit.rlim_cur = 1 << 20;
    for (unsigned descriptor = first; descriptor <= last && descriptor < limit.rlim_cur; descriptor++)
        closeDescriptor((int)descriptor);
}

/// Closes all descriptors but some, which it sorts.
PLAIN static void closeAllBut(int *kept, int count) {
    for (int sorted = 1; sorted < count; sorted++)
        for (int place = sorted; place > 0 && kept[place - 1] > kept[place]; place--) {
            int lower = kept[place];
            kept[place] = kept[place - 1];
            kept[place - 1] = lower;
        }
    int first = 0;
    for (int index = 0; index < count; index++) {
        if (kept[index] > first) closeRange((unsigned)first, (unsigned)kept[index] - 1);
        first = kept[index] + 1;
    }
    closeRange((unsigned)first, ~0u);
}

PLAIN static int server(void *argument) {
    struct Start *start = argument;
    struct KernelAction byDefault = {0};
    // What a program ignores stays ignored across exec.
    for (int number = 1; number <= signals; number++)
        syscall(SYS_rt_sigaction, number, &byDefault, NULL, (long)kernelMaskSize);
    // Copies above the numbers that are overwritten.
    int listener = copyAbove(start->listener, 5), readiness = copyAbove(start->readinessIn, 5);
    int devNull = copyAbove(start->devNull, 5);
    if (listener < 0 || readiness < 0 || devNull < 0) return fail(start, "fcntl");
    for (int standard = 0; standard <= 2; standard++)
        if (copyTo(devNull, standard) < 0) return fail(start, "dup3");
    if (copyTo(listener, CEmbeddedServerListener) < 0 || copyTo(readiness, CEmbeddedServerReadiness) < 0)
        return fail(start, "dup3");
    closeRange(5, ~0u);
    umask(077);
    if (chdir("/") != 0) return fail(start, "chdir");
    uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, (long)kernelMaskSize);
    execve("/proc/self/exe", start->arguments, environ);
    return fail(start, "execve");
}

PLAIN static int millisecondsLeft(const struct timespec *deadline) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (int64_t)(deadline->tv_sec - now.tv_sec) * 1000 + (deadline->tv_nsec - now.tv_nsec) / 1000000;
    return left < 0 ? 0 : left > 1 << 30 ? 1 << 30 : (int)left;
}

/// The server's parent until it is ready; then it is nobody's child but process 1's.
PLAIN static int starter(void *argument) {
    struct Start *start = argument;
    // This process lives until the server is ready. A socket that another thread of the program listens on must not
    // stay open here: connections to it would succeed after its server has ended.
    int kept[] = {start->listener, start->readinessOut, start->readinessIn, start->devNull};
    closeAllBut(kept, sizeof kept / sizeof *kept);
    // The server is no leader of its session, so it never gets a terminal.
    setsid();
    pid_t process = __clone(server, start->serverStack + stackSize, CLONE_VM | CLONE_VFORK | SIGCHLD, start);
    if (process < 0) return fail(start, "clone");
    closeDescriptor(start->readinessIn);
    closeDescriptor(start->listener);
    if (start->outcome.error != 0) {
        waitFor(process, NULL, 0);
        return 0;
    }
    start->outcome.process = process;
    while (true) {
        int left = millisecondsLeft(&start->deadline), slice = left < 20 ? left : 20;
        struct timespec pause = {0, slice * 1000000};
        struct pollfd readiness = {.fd = start->readinessOut, .events = POLLIN};
        if (syscall(SYS_ppoll, &readiness, 1, &pause, NULL, (long)kernelMaskSize) > 0) {
            // One write, which is shorter than a pipe takes at once. The outcome was zero, so it ends with a zero.
            char *said = start->outcome.said;
            long count = 0;
            if (said[0] == 0) count = syscall(SYS_read, start->readinessOut, said, sizeof start->outcome.said - 1);
            if (count == 1 && said[0] == CEmbeddedServerReady) {
                start->outcome.isReady = true;
                return 0;
            }
            // Nobody can write any more, so the server ends, or closed what it does not know.
            pause.tv_nsec = slice < 1 ? 0 : 1000000;
            syscall(SYS_ppoll, NULL, 0, &pause, NULL, (long)kernelMaskSize);
        }
        // Asked in any case: a copy of this program (fork) may hold the pipe open.
        if (waitFor(process, &start->outcome.status, WNOHANG) == process) return 0;
        if (left == 0) break;
    }
    // The server is this process's child and was not waited for, so the number is still its own.
    start->outcome.isLate = true;
    syscall(SYS_kill, process, SIGKILL);
    waitFor(process, &start->outcome.status, 0);
    return 0;
}

PLAIN struct CEmbeddedServerOutcome CEmbeddedServerStart(
    int listener, const char *directory, const char *startedBy, int64_t milliseconds) {
    struct Start start;
    memset(&start, 0, offsetof(struct Start, starterStack));
    start.listener = listener;
    clock_gettime(CLOCK_MONOTONIC, &start.deadline);
    milliseconds += start.deadline.tv_nsec / 1000000;
    start.deadline.tv_sec += milliseconds / 1000;
    start.deadline.tv_nsec = milliseconds % 1000 * 1000000;

    int readiness[2];
    if (pipe2(readiness, O_CLOEXEC) != 0) {
        fail(&start, "pipe2");
        return start.outcome;
    }
    start.readinessOut = readiness[0];
    start.readinessIn = readiness[1];
    char pipeName[32];
    char *const arguments[CEmbeddedServerArguments + 1] = {
        (char *)CEmbeddedServerName, (char *)directory, (char *)startedBy, pipeName, NULL};
    start.arguments = arguments;
    start.devNull = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (!describePipe(readiness[1], pipeName)) {
        fail(&start, "fstat");
        if (start.devNull >= 0) close(start.devNull);
    } else if (start.devNull < 0) {
        fail(&start, "open /dev/null");
    } else {
        // No handler of this program may run in a process that shares its memory. All: glibc's own would leave out two.
        uint64_t all = ~(uint64_t)0, before;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, (long)kernelMaskSize);
        // Without a signal for its end, the starter is not seen by wait, nor does a handler of SIGCHLD run.
        pid_t process = __clone(starter, start.starterStack + stackSize, CLONE_VM | CLONE_VFORK, &start);
        if (process < 0) fail(&start, "clone");
        // ECHILD means that somebody waits for children of all kinds, and was first: what counts is in `outcome`.
        else while (waitFor(process, NULL, __WCLONE) < 0 && errno == EINTR) {}
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, (long)kernelMaskSize);
        close(start.devNull);
    }
    close(readiness[0]);
    close(readiness[1]);
    return start.outcome;
}
