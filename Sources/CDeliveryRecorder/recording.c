// The recording of this process: when it begins and ends.
//
//     idle ── start, or the environment asks ──► asked ── first record ──► recording ── stop, exit ──► idle
//                                                  ▲                           │
//                                                  └── in a copy of the process┘
//
// Nothing here runs beside the program: there is no thread and no signal handler. A process that ends otherwise than by
// exit leaves a recording without an `end`.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "delivery_recorder.h"
#include "destination.h"
#include "line.h"
#include "lock.h"
#include "pieces.h"

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
static pid_t process;
/// The thread that forks holds the lock meanwhile.
static struct lock_holder forking;

/// The number of lost records that no record reports yet, and that of all.
static _Atomic uint64_t unreported, lost;

static void set_state(enum state new) {
    enum state old = atomic_exchange(&state, new);
    void (*call)(bool) = atomic_load(&changed);
    if (call && (old == idle) != (new == idle)) call(new != idle);
}

static void report(const char *path, const char *problem) {
    // Standard error may be a pipe without a reader.
    sigset_t pipe_signal, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    int length = dprintf(
        STDERR_FILENO,
        "ThreadedNotifications: cannot record to %s: %s. Name a file that can be written, on a disk with room.\n", path,
        problem);
    if (length < 0 && errno == EPIPE) sigtimedwait(&pipe_signal, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// MARK: Beginning and end

static void watch_process(void);

static size_t write_header(char *header) {
    struct recorder_text name = {program_invocation_short_name, strlen(program_invocation_short_name)};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    size_t length = recorder_write_header(
        header, process, name, 1, monotonic_nanoseconds(),
        (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    if (!kernel_name_remember_process()) {
        length += recorder_write_unrecorded(header + length, "names of threads: there is no /proc");
    }
    return length;
}

/// Called with the lock. Returns null, or the problem.
static const char *begin(const char *path, enum existing_file existing, bool follows) {
    watch_process();
    const char *problem = destination_open(&destination, path, existing, follows);
    if (problem) return problem;
    process = getpid();
    unreported = lost = 0;
    // Threads may have small stacks.
    static char header[2 * RECORDER_MAXIMUM_HEADER];
    int error = pieces_begin(&destination, header, write_header(header));
    if (error) {
        destination_truncate(&destination, destination.offset);
        destination_close(&destination);
        return strerror(error);
    }
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

/// Called with the lock in a copy of the process, which records to a file of its own.
static void become_copy(void) {
    pieces_leave_to_original();
    if (atomic_load(&state) != recording) return;
    destination_close(&destination);
    snprintf(asked_path, sizeof asked_path, "%s.%d", destination.absolute_path, getpid());
    follows_link = false;
    was_asked = true;
    set_state(asked);
}

/// Takes the lock. A copy of the process that no hook saw, in which the thread that holds it may not exist, becomes one
/// that records to a file of its own.
static struct lock_holder take_lock(void) {
    bool is_unseen_copy = !pieces_are_originals();
    if (is_unseen_copy) lock_renew();
    struct lock_holder holder = lock_take();
    if (is_unseen_copy) become_copy();
    return holder;
}

/// True if the process is recorded. Opens the file if it was asked for.
static bool is_recorded(void) {
    enum state now = atomic_load_explicit(&state, memory_order_acquire);
    if (now != asked) return now == recording;
    struct lock_holder holder = take_lock();
    const char *problem = begin_asked();
    now = atomic_load(&state);
    lock_release(&holder);
    if (problem) report(asked_path, problem);
    return now == recording;
}

/// Appends a line. In a copy of the process that no hook saw, it goes to a file of the copy's own.
static enum append_result append_lines(const struct lines *lines) {
    enum append_result result = pieces_append(lines);
    if (result != not_open || pieces_are_originals()) return result;
    struct lock_holder holder = take_lock();
    lock_release(&holder);
    return is_recorded() ? pieces_append(lines) : not_open;
}

static enum append_result append_event(const char *stage, uint64_t count, const char *reason, enum lines_kind kind) {
    char rest[256];
    size_t length = recorder_write_event(rest, gettid(), stage, count, reason);
    return append_lines(&(struct lines){.rest = rest, .length = length, .is_record = true, .kind = kind});
}

/// Appends a record of the losses that no record reports yet. Called with the lock: the recording does not end
/// meanwhile, and no other thread seals the piece.
static void append_loss(enum lines_kind kind) {
    uint64_t count = atomic_exchange(&unreported, 0);
    if (count > 0 && append_event("lost", count, NULL, kind) != appended) atomic_fetch_add(&unreported, count);
}

/// Appends the last records and cuts the file. Called with the lock. Returns the number of lost records.
static uint64_t finish(const char *reason) {
    set_state(idle);
    append_loss(last_loss);
    append_event("end", 0, reason, the_end);
    pieces_end();
    destination_close(&destination);
    return atomic_load(&lost);
}

static void describe_loss(uint64_t count, char *problem, size_t size) {
    snprintf(
        problem, size, "%llu records could not be written (%s)", (unsigned long long)count,
        strerror(pieces_error()));
}

static void process_exits(void) {
    struct lock_holder holder = take_lock();
    // A process that was created without fork, such as by vfork, may share the memory, but not the recording.
    bool is_own = atomic_load(&state) == recording && process == getpid();
    uint64_t count = is_own ? finish("exit") : 0;
    if (atomic_load(&state) == asked) set_state(idle);
    lock_release(&holder);
    if (count == 0) return;
    char problem[256];
    describe_loss(count, problem, sizeof problem);
    report(destination.path, problem);
}

// MARK: Forking

// The thread that forks holds the lock, so that the copy finds the file neither half open nor half extended.

static void process_will_fork(void) {
    // The variable belongs to the thread that has the lock.
    struct lock_holder holder = take_lock();
    forking = holder;
}

static void process_forked(void) {
    lock_release(&forking);
    if (atomic_load(&state) == recording) append_event("fork", 0, NULL, any_piece);
}

static void process_is_copy(void) {
    // Otherwise a hook of the program that ran before this one has recorded.
    if (!pieces_are_originals() || process != getpid()) become_copy();
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

// MARK: The interface

static void append_recorded(const struct recorder_record *record) {
    size_t capacity = recorder_maximum_length(record);
    char small[4096];
    // A signal handler must not call malloc.
    void *large = MAP_FAILED;
    if (capacity > sizeof small) {
        large = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    enum append_result result = no_room;
    if (capacity <= sizeof small || large != MAP_FAILED) {
        char *rest = large != MAP_FAILED ? large : small;
        result = append_lines(&(struct lines){
            .threads = {&record->thread, &record->target}, .rest = rest, .length = recorder_write_rest(rest, record),
            .is_record = true});
    }
    if (large != MAP_FAILED) munmap(large, capacity);
    if (result == no_room) {
        atomic_fetch_add(&lost, 1);
        atomic_fetch_add(&unreported, 1);
    }
    if (result == not_open || atomic_load_explicit(&unreported, memory_order_relaxed) == 0) return;
    struct lock_holder holder = take_lock();
    // Without room, it says that there are losses, should the process be killed before there is room again.
    append_loss(result == appended ? any_piece : first_loss);
    lock_release(&holder);
}

static void append(const struct recorder_record *record) {
    int error = errno, cancelability;
    // A post is no cancellation point. A thread that ends in an append would use its piece for ever.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelability);
    if (is_recorded()) append_recorded(record);
    pthread_setcancelstate(cancelability, NULL);
    errno = error;
}

static void forget_thread(uint64_t number) { pieces_forget_thread(number); }

static void watch_changes(void (*call)(bool)) {
    struct lock_holder holder = take_lock();
    atomic_store(&changed, call);
    if (call) call(atomic_load(&state) != idle);
    lock_release(&holder);
}

static bool start(const char *path, char *problem, size_t size) {
    const char *reason = NULL;
    bool is_started = true;
    struct lock_holder holder = take_lock();
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
    struct lock_holder holder = take_lock();
    uint64_t count = atomic_load(&state) == recording ? finish("stopped") : 0;
    set_state(idle);
    if (count > 0) describe_loss(count, problem, size);
    lock_release(&holder);
    return count == 0;
}

static bool copy_path(char *path, size_t size) {
    struct lock_holder holder = take_lock();
    const enum state now = atomic_load(&state);
    if (now != idle) snprintf(path, size, "%s", now == asked ? asked_path : destination.path);
    lock_release(&holder);
    return now != idle;
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
    bool has_others_rights = getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
    const char *path = has_others_rights ? NULL : getenv("THREADED_NOTIFICATIONS_RECORDING");
    if (!path || !path[0] || strlen(path) >= PATH_MAX) return;
    watch_process();
    struct lock_holder holder = take_lock();
    if (atomic_load(&state) == idle) {
        strcpy(asked_path, path);
        follows_link = was_asked = true;
        set_state(asked);
    }
    lock_release(&holder);
}

void delivery_recorder_note_unrecorded(const char *reason) {
    if (!is_recorded()) return;
    char line[RECORDER_MAXIMUM_HEADER];
    append_lines(&(struct lines){.rest = line, .length = recorder_write_unrecorded(line, reason)});
}
