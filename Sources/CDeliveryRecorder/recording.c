// The recording of this process: its beginning, its records, and its end.
//
//     idle ── start, or the environment asks ──► asked ── first record ──► recording ── stop, exit ──► idle
//                                                  ▲                           │
//                                                  └── in a copy of the process┘
//
// A record is in the file when `append` returns, however the process ends. It gets its number and time, is composed and
// written with the lock. So numbers have no gaps, times do not decrease in the order of the file, and a record that
// another one caused follows it. A signal handler may append, because no handler interrupts the thread with the lock.
//
// Nothing here runs beside the program: there is no thread and no signal handler. A process that ends otherwise than by
// exit leaves a recording without an `end`.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "delivery_recorder.h"
#include "destination.h"
#include "line.h"

enum state {
    idle,
    /// The first record opens the file `asked_path`.
    asked,
    recording,
};

// Changed with the lock.
static _Atomic(enum state) state;
static char asked_path[2 * PATH_MAX + 16];
static bool follows_link, was_asked;
static void (*_Atomic changed)(bool);
static struct destination destination;
/// The process that records; 0 before the first recording.
static _Atomic pid_t process;
/// The thread that forks holds the lock meanwhile.
static struct lock_holder forking;
/// True until the fork has ended, and in the copy until it records to a file of its own. The copy may have the same
/// process id as the original: both have 1 if each is the first process of a namespace.
static bool is_forking;
/// The numbers of the last record and of those that could not be written, and the system's error number.
static uint64_t last_number, lost;
static int last_error;
/// The offset of the blanks that a line about losses replaces.
static off_t loss_offset;
/// True if the file identifies the thread with this number. Higher numbers are identified before each record.
static bool is_identified[1 << 18];
/// Threads may have small stacks, and a signal handler must not allocate.
static char line[LONGEST_LINE];

static void set_state(enum state new) {
    enum state old = atomic_exchange(&state, new);
    void (*call)(bool) = atomic_load(&changed);
    if (call && (old == idle) != (new == idle)) call(new != idle);
}

static void report(const char *path, const char *problem) {
    // Standard error may be a pipe without a reader, or a file that must not grow.
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    int length = dprintf(
        STDERR_FILENO,
        "ThreadedNotifications: cannot record to %s: %s. Name a file that can be written, on a disk with room.\n", path,
        problem);
    if (length < 0 && (errno == EPIPE || errno == EFBIG)) sigtimedwait(&signals, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/// Called with the lock in a copy of the process, which records to a file of its own.
static void become_copy(void) {
    process = getpid();
    is_forking = false;
    if (atomic_load(&state) != recording) return;
    destination_close(&destination, false);
    snprintf(asked_path, sizeof asked_path, "%s.%d", destination.absolute_path, process);
    follows_link = false;
    was_asked = true;
    set_state(asked);
}

struct lock_holder delivery_recorder_lock(void) {
    const bool is_unseen_copy = process != 0 && process != getpid();
    if (is_unseen_copy) lock_renew();
    struct lock_holder holder = lock_take();
    if (is_unseen_copy) become_copy();
    return holder;
}

// MARK: Writing, with the lock

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/// Writes the line. If that fails, the beginning of the file has the number of losses, should the process be killed.
static bool write_line(size_t length) {
    const int error = destination_append(&destination, line, length);
    if (error == 0) return true;
    last_error = error;
    char loss[LOSS_LENGTH];
    write_loss(loss, nanoseconds(CLOCK_MONOTONIC), ++lost);
    destination_replace(&destination, loss_offset, loss, sizeof loss);
    return false;
}

/// Writes the identity of a thread, if the file does not have it.
static bool write_identity(const struct recorder_thread *thread) {
    const bool is_counted = thread->number < sizeof is_identified;
    if (thread->number == 0 || (is_counted && is_identified[thread->number])) return true;
    struct recorder_thread named = *thread;
    char name[16];
    if (!named.name.start && !named.pool) named.name = kernel_name(named.kernel_id, name);
    const bool is_written = write_line(write_thread(line, &named));
    if (is_counted) is_identified[thread->number] = is_written;
    return is_written;
}

/// A record that cannot be written is counted once: with the identity of its thread, or itself.
static void write_with_identities(const struct recorder_record *record) {
    if (!write_identity(&record->thread) || !write_identity(&record->target)) return;
    if (write_line(write_record(line, last_number + 1, nanoseconds(CLOCK_MONOTONIC), record))) last_number++;
}

#define TEXT(literal) {literal, sizeof literal - 1}

// MARK: Beginning and end

static void watch_process(void);

/// Called with the lock. Returns null, or the problem.
static const char *begin(const char *path, enum existing_file existing, bool follows) {
    watch_process();
    const char *problem = destination_open(&destination, path, existing, follows);
    if (problem) return problem;
    process = getpid();
    last_number = lost = 0;
    memset(is_identified, 0, sizeof is_identified);
    kernel_name_remember_process();
    const size_t length = write_header(
        line, process, program_invocation_short_name, nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_REALTIME));
    const int error = destination_append(&destination, line, length);
    if (error != 0) {
        destination_close(&destination, true);
        return strerror(error);
    }
    loss_offset = destination.end - LOSS_LENGTH - 1;
    set_state(recording);
    return NULL;
}

/// Called with the lock. Opens the file, if one was asked for. Returns null, or the problem, to be reported without the
/// lock.
static const char *begin_asked(void) {
    if (atomic_load(&state) != asked) return NULL;
    const char *problem = begin(asked_path, append_to_file, follows_link);
    if (problem) set_state(idle);
    return problem;
}

/// Writes the last record. Called with the lock. Returns the number of lost records.
static uint64_t finish(struct recorder_text reason) {
    set_state(idle);
    write_with_identities(&(struct recorder_record){
        .stage = TEXT("end"), .thread = {.kernel_id = gettid()}, .reason = reason});
    destination_close(&destination, true);
    return lost;
}

static void describe_loss(uint64_t count, char *problem, size_t size) {
    snprintf(
        problem, size, "%llu records could not be written (%s)", (unsigned long long)count, strerror(last_error));
}

static void process_exits(void) {
    // A process that was created without fork, such as by vfork, may share the memory, but not the recording.
    if (process != 0 && process != getpid()) return;
    struct lock_holder holder = delivery_recorder_lock();
    uint64_t count =
        atomic_load(&state) == recording ? finish((struct recorder_text)TEXT("exit")) : 0;
    set_state(idle);
    lock_release(&holder);
    if (count == 0) return;
    char problem[256];
    describe_loss(count, problem, sizeof problem);
    report(destination.path, problem);
}

// MARK: The interface

static void append(const struct recorder_record *record) {
    if (atomic_load_explicit(&state, memory_order_acquire) == idle) return;
    struct lock_holder holder = delivery_recorder_lock();
    const char *problem = begin_asked();
    if (atomic_load(&state) == recording) write_with_identities(record);
    lock_release(&holder);
    if (problem) report(asked_path, problem);
}

static void forget_thread(uint64_t number) {
    struct lock_holder holder = delivery_recorder_lock();
    if (number < sizeof is_identified) is_identified[number] = false;
    lock_release(&holder);
}

static void watch_changes(void (*call)(bool)) {
    struct lock_holder holder = delivery_recorder_lock();
    atomic_store(&changed, call);
    if (call) call(atomic_load(&state) != idle);
    lock_release(&holder);
}

static bool start(const char *path, char *problem, size_t size) {
    const char *reason = NULL;
    bool is_started = true;
    struct lock_holder holder = delivery_recorder_lock();
    const char *asked_problem = begin_asked();
    if (atomic_load(&state) == idle) {
        reason = begin(path, replace_file, true);
        was_asked = false;
        is_started = !reason;
        if (reason) snprintf(problem, size, "%s", reason);
    } else if (!was_asked) {
        is_started = false;
        snprintf(problem, size, "this process records to %s, and records once", destination.path);
    }
    lock_release(&holder);
    if (asked_problem) report(asked_path, asked_problem);
    return is_started;
}

static bool stop(char *problem, size_t size) {
    struct lock_holder holder = delivery_recorder_lock();
    uint64_t count = atomic_load(&state) == recording ? finish((struct recorder_text)TEXT("stopped")) : 0;
    set_state(idle);
    if (count > 0) describe_loss(count, problem, size);
    lock_release(&holder);
    return count == 0;
}

static bool copy_path(char *path, size_t size) {
    struct lock_holder holder = delivery_recorder_lock();
    const enum state now = atomic_load(&state);
    if (now != idle) snprintf(path, size, "%s", now == asked ? asked_path : destination.path);
    lock_release(&holder);
    return now != idle;
}

// MARK: Forking

// The thread that forks holds the lock, so that the copy finds no line half written.

static void process_will_fork(void) {
    // The variable belongs to the thread that has the lock.
    struct lock_holder holder = delivery_recorder_lock();
    forking = holder;
    is_forking = true;
}

static void process_forked(void) {
    is_forking = false;
    lock_release(&forking);
    if (atomic_load(&state) != recording) return;
    append(&(struct recorder_record){.stage = TEXT("fork"), .thread = {.kernel_id = gettid()}});
}

static void process_is_copy(void) {
    // Otherwise a hook of the program that ran before this one has recorded.
    if (is_forking) become_copy();
    lock_release(&forking);
}

static void watch(void) {
    atexit(process_exits);
    pthread_atfork(process_will_fork, process_forked, process_is_copy);
}

/// Installs the hooks of exit and fork. If that is done before the program begins, its own hooks may record. Later
/// calls have no effect.
static void watch_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

const struct notification_recorder *delivery_recorder(void) {
    static const struct notification_recorder recorder = {
        .version = NOTIFICATION_RECORDER_VERSION,
        .append = append,
        .forget_thread = forget_thread,
        .watch = watch_changes,
        .start = start,
        .stop = stop,
        .copy_path = copy_path,
    };
    return &recorder;
}

void delivery_recorder_start_if_asked(void) {
    watch_process();
    bool has_others_rights = getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
    const char *path = has_others_rights ? NULL : getenv("THREADED_NOTIFICATIONS_RECORDING");
    if (!path || !path[0] || strlen(path) >= PATH_MAX) return;
    struct lock_holder holder = delivery_recorder_lock();
    if (atomic_load(&state) == idle) {
        strcpy(asked_path, path);
        follows_link = was_asked = true;
        set_state(asked);
    }
    lock_release(&holder);
}

void delivery_recorder_note_unrecorded(const char *reason) {
    if (atomic_load(&state) == idle) return;
    struct lock_holder holder = delivery_recorder_lock();
    const char *problem = begin_asked();
    if (atomic_load(&state) == recording) write_line(write_unrecorded(line, reason));
    lock_release(&holder);
    if (problem) report(asked_path, problem);
}
