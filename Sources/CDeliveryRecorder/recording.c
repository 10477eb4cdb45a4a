// The recording of this process: when it begins and ends, and the thread that writes it.
//
//     idle ── start, or the environment asks ──► asked ── first record ──► recording ── stop, exit, signal ──► idle
//                                                  ▲                           │
//                                                  └───── in a forked child ───┘
//
// Order: records are in the order in which threads took the lock, so a record that another one caused follows it in the
// file. Cost: the line is composed without the lock, and copied with it. A thread that finds the buffer full writes it,
// which bounds the memory.

#define _GNU_SOURCE
#include "recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "buffers.h"
#include "delivery_recorder.h"
#include "destination.h"
#include "lock.h"

enum state {
    idle,
    /// The first record opens the file `asked_path`.
    asked,
    recording,
};

static _Atomic(enum state) state;

/// Held while a recording begins or ends. Taken before the other two.
static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
static char asked_path[2 * PATH_MAX + 16];
static bool follows_link, was_asked;
static void (*_Atomic changed)(bool);

/// Held while a buffer is written. Taken before `lock`.
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

/// Guards what follows. Two places read it without: a signal handler reads everything, and the thread that holds
/// `writing` reads the memory of the written buffer, which does not change until that thread is done.
static struct lock lock = LOCK_INITIALIZER;
static struct destination destination;
static struct buffers buffers;
/// True from the opening of the file until the last record.
static bool is_open;
/// True if everything was written, and nothing will be.
static bool is_closed = true;
static pid_t process;
/// The system's last error number, or 0.
static int last_error;
/// Signalled when the filled buffer is no longer empty, and when it is half full.
static pthread_cond_t is_filling = PTHREAD_COND_INITIALIZER;
static bool has_thread;

static void set_state(enum state new) {
    atomic_store_explicit(&state, new, memory_order_release);
    void (*call)(bool) = atomic_load(&changed);
    if (call) call(new != idle);
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

// MARK: Writing

/// Called with `writing` held. False if the system could not write.
static bool write_filled(void) {
    lock_take(&lock);
    // A copy of the process that no hook saw has the memory of the recording, but not the recording.
    if (is_closed || process != getpid()) {
        lock_release(&lock);
        return true;
    }
    buffers_swap(&buffers);
    const struct buffer *full = buffers_written(&buffers);
    const char *start = full->start;
    const size_t length = buffer_length(full);
    const off_t offset = full->offset;
    lock_release(&lock);
    int error;
    size_t written = destination_write(&destination, start, length, offset, &error);
    lock_take(&lock);
    // Otherwise a signal handler has written everything in between.
    if (!is_closed) {
        size_t kept = buffers_end_writing(&buffers, written);
        if (error) {
            last_error = error;
            // Removes an incomplete line. The next records take its place in the file.
            destination_truncate(&destination, offset + (off_t)kept);
        }
    }
    lock_release(&lock);
    return error == 0;
}

/// False if the system could not write, or if another thread was writing for a second.
static bool write_all(void) {
    if (!mutex_take_within(&writing, 1)) return false;
    bool is_written = write_filled();
    pthread_mutex_unlock(&writing);
    return is_written;
}

/// Called with `lock` held.
static size_t waiting_bytes(void) { return is_open ? buffer_length(buffers_filled(&buffers)) : 0; }

/// Wakes the thread that writes, if the filled buffer is no longer empty, or becomes half full. Called with `lock`
/// held.
static void wake_writer(size_t bytes_before) {
    const size_t half = BUFFER_CAPACITY / 2, bytes = waiting_bytes();
    if ((bytes_before == 0 && bytes > 0) || (bytes_before <= half && bytes > half)) pthread_cond_signal(&is_filling);
}

/// Writes new records ten times a second.
static void *write_in_background(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "recording");
    for (;;) {
        lock_take(&lock);
        while (waiting_bytes() == 0) lock_wait(&lock, &is_filling, NULL);
        struct timespec deadline;
        clock_gettime(CLOCK_MONOTONIC, &deadline);
        deadline.tv_nsec += 100000000;
        if (deadline.tv_nsec >= 1000000000) {
            deadline.tv_sec++;
            deadline.tv_nsec -= 1000000000;
        }
        while (waiting_bytes() <= BUFFER_CAPACITY / 2 && lock_wait(&lock, &is_filling, &deadline)) {}
        lock_release(&lock);
        write_all();
    }
    return NULL;
}

static void start_thread(void) {
    // The program's signals are for the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_in_background, NULL) == 0) {
        pthread_detach(thread);
        has_thread = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// MARK: Beginning and end

/// Called with `control` held. Returns null, or the problem.
static const char *begin(const char *path, enum existing_file existing, bool follows) {
    process_end_watch();
    lock_take(&lock);
    bool is_in_use = !is_closed;
    lock_release(&lock);
    if (is_in_use) return "the end of the previous recording is still being written";
    const char *problem = destination_open(&destination, path, existing, follows);
    if (problem) return problem;
    if (!buffers_create(&buffers, destination.offset)) {
        destination_close(&destination);
        return strerror(ENOMEM);
    }
    process = getpid();
    last_error = 0;
    char header[RECORDER_MAXIMUM_HEADER];
    struct recorder_text name = {program_invocation_short_name, strlen(program_invocation_short_name)};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    size_t length = recorder_write_header(
        header, process, name, 1, monotonic_nanoseconds(),
        (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    buffers_append_line(&buffers, header, length);
    lock_take(&lock);
    is_closed = false;
    lock_release(&lock);
    // Written at once, because readers need it.
    if (!write_all()) {
        lock_take(&lock);
        is_closed = true;
        buffers_free(&buffers);
        lock_release(&lock);
        destination_close(&destination);
        return strerror(last_error);
    }
    process_end_install();
    if (!has_thread) start_thread();
    lock_take(&lock);
    is_open = true;
    lock_release(&lock);
    set_state(recording);
    return NULL;
}

/// Called with `control` held. Opens the file that was asked for.
static void begin_asked(void) {
    const char *problem = begin(asked_path, append_to_file, follows_link);
    if (problem) {
        report(asked_path, problem);
        set_state(idle);
    }
}

/// True if the process is recorded. Opens the file if it was asked for.
static bool is_recorded(void) {
    enum state now = atomic_load_explicit(&state, memory_order_acquire);
    if (now != asked) return now == recording;
    pthread_mutex_lock(&control);
    if (atomic_load(&state) == asked) begin_asked();
    now = atomic_load(&state);
    pthread_mutex_unlock(&control);
    return now == recording;
}

/// Writes all records, and a last one with the reason. Called with `control` held. Returns the number of lost records.
static uint64_t finish(const char *reason) {
    set_state(idle);
    lock_take(&lock);
    bool was_open = is_open;
    if (is_open) buffers_append_end(&buffers, reason, 0);
    is_open = false;
    lock_release(&lock);
    if (was_open) {
        // A thread that is writing needs the memory and the file.
        bool is_free = mutex_take_within(&writing, 10);
        if (is_free) write_filled();
        lock_take(&lock);
        if (!is_free) {
            buffers_count_lost(&buffers, buffers_waiting(&buffers));
        } else if (!is_closed) {
            is_closed = true;
            buffers_empty(&buffers);
            buffers_free(&buffers);
            destination_close(&destination);
        }
        lock_release(&lock);
        if (is_free) pthread_mutex_unlock(&writing);
    }
    return buffers.total_lost;
}

static void describe_loss(uint64_t lost, char *problem, size_t size) {
    snprintf(
        problem, size, "%llu records could not be written (%s)", (unsigned long long)lost,
        last_error ? strerror(last_error) : "the disk is too slow");
}

void recording_process_exits(void) {
    if (atomic_load(&state) == recording && process != getpid()) return;
    // A signal handler that calls exit may have interrupted code that holds a lock, which then stays locked.
    if (!mutex_take_within(&control, 1)) {
        recording_finish_in_handler("exit", 0);
        return;
    }
    if (atomic_load(&state) == recording) {
        if (lock_is_own(&lock) || !lock_take_within(&lock, 1)) {
            recording_finish_in_handler("exit", 0);
        } else {
            lock_release(&lock);
            uint64_t lost = finish("exit");
            if (lost > 0) {
                char problem[256];
                describe_loss(lost, problem, sizeof problem);
                report(destination.path, problem);
            }
        }
    }
    set_state(idle);
    pthread_mutex_unlock(&control);
}

void recording_finish_in_handler(const char *reason, int signal) {
    // A process that was created without fork, such as by vfork, may share the memory, but not the recording.
    if (is_closed || process != getpid()) return;
    bool is_taken = !lock_is_own(&lock) && lock_take_within(&lock, 5);
    if (!is_closed) {
        if (is_open) buffers_append_end(&buffers, reason, signal);
        is_open = false;
        // Another thread may be writing one of them: it writes the same bytes at the same offset.
        const struct buffer *both[] = {buffers_written(&buffers), buffers_filled(&buffers)};
        for (int index = 0; index < 2; index++) {
            int error;
            destination_write(
                &destination, both[index]->start, buffer_length(both[index]), both[index]->offset, &error);
        }
        is_closed = true;
        buffers_empty(&buffers);
    }
    if (is_taken) lock_release(&lock);
}

// MARK: Forking

void recording_process_will_fork(void) {
    pthread_mutex_lock(&control);
    pthread_mutex_lock(&writing);
    lock_take(&lock);
}

static void release_locks(void) {
    lock_release(&lock);
    pthread_mutex_unlock(&writing);
    pthread_mutex_unlock(&control);
}

void recording_process_forked(void) {
    size_t before = waiting_bytes();
    if (is_open) buffers_append_fork(&buffers);
    wake_writer(before);
    release_locks();
}

void recording_process_is_copy(void) {
    // The parent's thread may have waited for it.
    is_filling = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    has_thread = false;
    if (atomic_load(&state) == recording) {
        is_open = false;
        is_closed = true;
        buffers_free(&buffers);
        destination_close(&destination);
        // Composed in the child, which has the process id.
        snprintf(asked_path, sizeof asked_path, "%s.%d", destination.absolute_path, getpid());
        follows_link = false;
        was_asked = true;
        set_state(asked);
    }
    release_locks();
}

// MARK: The interface

/// Appends a record of a process that is recorded.
static void append_now(const struct recorder_record *record) {
    size_t capacity = recorder_maximum_length(record);
    char small[4096];
    char *rest = capacity <= sizeof small ? small : malloc(capacity);
    size_t length = rest ? recorder_write_rest(rest, record) : 0;
    lock_take(&lock);
    bool has_room = rest != NULL;
    size_t before = waiting_bytes();
    while (is_open && has_room && !buffers_append(&buffers, record, rest, length)) {
        lock_release(&lock);
        has_room = write_all();
        lock_take(&lock);
        before = waiting_bytes();
    }
    // It is not open after a crash that the program has survived.
    if (is_open ? !has_room : atomic_load(&state) == recording) buffers_count_lost(&buffers, 1);
    wake_writer(before);
    lock_release(&lock);
    if (rest != small) free(rest);
}

/// Keeps the calling thread from being cancelled while it holds a lock, and keeps its error number.
struct program_state {
    int error, cancelability;
};

static struct program_state enter(void) {
    struct program_state program = {.error = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &program.cancelability);
    return program;
}

static void leave(struct program_state program) {
    pthread_setcancelstate(program.cancelability, NULL);
    errno = program.error;
}

static void append(const struct recorder_record *record) {
    struct program_state program = enter();
    if (is_recorded()) append_now(record);
    leave(program);
}

static void forget_thread(uint64_t number) {
    lock_take(&lock);
    if (is_open) buffers_forget_thread(&buffers, number);
    lock_release(&lock);
}

static void watch(void (*call)(bool)) {
    pthread_mutex_lock(&control);
    atomic_store(&changed, call);
    if (call) call(atomic_load(&state) != idle);
    pthread_mutex_unlock(&control);
}

static bool start(const char *path, char *problem, size_t size) {
    struct program_state program = enter();
    bool is_started = true;
    pthread_mutex_lock(&control);
    if (atomic_load(&state) == asked) begin_asked();
    if (atomic_load(&state) == idle) {
        const char *reason = begin(path, replace_file, true);
        was_asked = false;
        is_started = !reason;
        if (reason) snprintf(problem, size, "%s", reason);
    } else if (!was_asked) {
        is_started = false;
        snprintf(problem, size, "this process records to %s, and records once", destination.path);
    }
    pthread_mutex_unlock(&control);
    leave(program);
    return is_started;
}

static bool stop(char *problem, size_t size) {
    struct program_state program = enter();
    pthread_mutex_lock(&control);
    uint64_t lost = atomic_load(&state) == recording ? finish("stopped") : 0;
    set_state(idle);
    if (lost > 0) describe_loss(lost, problem, size);
    pthread_mutex_unlock(&control);
    leave(program);
    return lost == 0;
}

static void flush(void) {
    struct program_state program = enter();
    write_all();
    leave(program);
}

static bool copy_path(char *path, size_t size) {
    pthread_mutex_lock(&control);
    const enum state now = atomic_load(&state);
    if (now != idle) snprintf(path, size, "%s", now == asked ? asked_path : destination.path);
    pthread_mutex_unlock(&control);
    return now != idle;
}

const struct notification_recorder *delivery_recorder(void) {
    static const struct notification_recorder recorder = {
        .version = NOTIFICATION_RECORDER_VERSION,
        .append = append,
        .forget_thread = forget_thread,
        .watch = watch,
        .start = start,
        .stop = stop,
        .flush = flush,
        .copy_path = copy_path,
    };
    return &recorder;
}

void delivery_recorder_start_if_asked(void) {
    bool has_others_rights = getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
    const char *path = has_others_rights ? NULL : getenv("THREADED_NOTIFICATIONS_RECORDING");
    if (!path || !path[0] || strlen(path) >= PATH_MAX) return;
    process_end_watch();
    pthread_mutex_lock(&control);
    if (atomic_load(&state) == idle) {
        strcpy(asked_path, path);
        follows_link = was_asked = true;
        set_state(asked);
    }
    pthread_mutex_unlock(&control);
}

void delivery_recorder_note_unrecorded(const char *reason) {
    if (!is_recorded()) return;
    char line[RECORDER_MAXIMUM_HEADER];
    size_t length = recorder_write_unrecorded(line, reason);
    lock_take(&lock);
    size_t before = waiting_bytes();
    if (is_open) buffers_append_line(&buffers, line, length);
    wake_writer(before);
    lock_release(&lock);
}
