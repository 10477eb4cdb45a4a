#define _GNU_SOURCE
#include "buffers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// The number of bytes that the last record takes at most.
enum { maximum_end = MAXIMUM_BEGINNING + 128 };

uint64_t monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// MARK: One buffer

static uint64_t filling(const struct buffer *buffer) {
    return atomic_load_explicit(&buffer->filling, memory_order_relaxed);
}

size_t buffer_length(const struct buffer *buffer) { return filling(buffer) & 0xffffff; }

static uint64_t next_number(const struct buffer *buffer) { return filling(buffer) >> 24; }

static char *end_of(const struct buffer *buffer) { return buffer->start + buffer_length(buffer); }

/// Adds bytes that were written behind the existing ones and are complete lines.
static void add(struct buffer *buffer, size_t bytes, uint64_t records) {
    // Orders the bytes before the store, for a signal handler on this thread.
    atomic_signal_fence(memory_order_release);
    atomic_store_explicit(&buffer->filling, filling(buffer) + bytes + (records << 24), memory_order_relaxed);
}

static void empty(struct buffer *buffer, uint64_t next) {
    atomic_store_explicit(&buffer->filling, next << 24, memory_order_relaxed);
}

/// The number of records from an offset on, which is the beginning of a line.
static uint64_t records_from(const struct buffer *buffer, size_t offset) {
    uint64_t records = 0;
    const char *line = buffer->start + offset, *end = end_of(buffer);
    while (line < end) {
        // Other lines begin with another key.
        if (line[2] == 'n') records++;
        line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    }
    return records;
}

// MARK: Both

bool buffers_create(struct buffers *buffers, off_t offset) {
    memset(buffers, 0, sizeof *buffers);
    for (int index = 0; index < 2; index++) {
        struct buffer *buffer = &buffers->pair[index];
        buffer->start = malloc(BUFFER_CAPACITY);
        buffer->offset = offset;
        empty(buffer, 1);
    }
    if (buffers->pair[0].start && buffers->pair[1].start) return true;
    buffers_free(buffers);
    return false;
}

void buffers_free(struct buffers *buffers) {
    for (int index = 0; index < 2; index++) {
        free(buffers->pair[index].start);
        buffers->pair[index].start = NULL;
    }
    free(buffers->known_threads);
    buffers->known_threads = NULL;
    buffers->known_words = 0;
}

struct buffer *buffers_filled(struct buffers *buffers) {
    return &buffers->pair[atomic_load_explicit(&buffers->filled_index, memory_order_relaxed)];
}

struct buffer *buffers_written(struct buffers *buffers) {
    return &buffers->pair[1 - atomic_load_explicit(&buffers->filled_index, memory_order_relaxed)];
}

static bool has_room(struct buffers *buffers, size_t bytes) {
    return buffer_length(buffers_filled(buffers)) + bytes <= BUFFER_CAPACITY - maximum_end;
}

static bool is_known(const struct buffers *buffers, uint64_t thread) {
    uint64_t word = thread / 64;
    return word < buffers->known_words && buffers->known_threads[word] >> thread % 64 & 1;
}

static void append_identity(struct buffers *buffers, const struct recorder_thread *thread) {
    if (thread->number == 0 || is_known(buffers, thread->number)) return;
    uint64_t word = thread->number / 64;
    if (word >= buffers->known_words) {
        size_t words = word + 1 + buffers->known_words;
        uint64_t *known = realloc(buffers->known_threads, words * sizeof *known);
        if (known) {
            memset(known + buffers->known_words, 0, (words - buffers->known_words) * sizeof *known);
            buffers->known_threads = known;
            buffers->known_words = words;
        }
    }
    // Without memory, the thread is identified again before its next record.
    if (word < buffers->known_words) buffers->known_threads[word] |= (uint64_t)1 << thread->number % 64;
    struct buffer *filled = buffers_filled(buffers);
    add(filled, recorder_write_thread(end_of(filled), thread), 0);
}

static void append_rest(struct buffers *buffers, const char *rest, size_t length) {
    struct buffer *filled = buffers_filled(buffers);
    char *line = end_of(filled);
    size_t beginning = recorder_write_beginning(line, next_number(filled), monotonic_nanoseconds());
    memcpy(line + beginning, rest, length);
    add(filled, beginning + length, 1);
}

static void append_lost(struct buffers *buffers, const struct recorder_thread *thread) {
    struct buffer *filled = buffers_filled(buffers);
    size_t offset = buffer_length(filled);
    char rest[1024];
    struct recorder_record record = {
        .stage = {"lost", 4}, .thread = *thread, .has_count = true, .count = buffers->lost,
    };
    append_rest(buffers, rest, recorder_write_rest(rest, &record));
    filled->reported_lost += buffers->lost;
    filled->reported_lost_offset = offset;
    buffers->lost = 0;
}

bool buffers_append(struct buffers *buffers, const struct recorder_record *record, const char *rest, size_t length) {
    if (!has_room(buffers, length + 2 * MAXIMUM_BEGINNING + 1024 + 2 * RECORDER_MAXIMUM_HEADER)) return false;
    if (buffers->lost > 0) append_lost(buffers, &record->thread);
    append_identity(buffers, &record->thread);
    append_identity(buffers, &record->target);
    append_rest(buffers, rest, length);
    return true;
}

bool buffers_append_line(struct buffers *buffers, const char *line, size_t length) {
    if (!has_room(buffers, length)) return false;
    struct buffer *filled = buffers_filled(buffers);
    memcpy(end_of(filled), line, length);
    add(filled, length, 0);
    return true;
}

static void append_event(struct buffers *buffers, const char *stage, const char *reason, int signal) {
    struct buffer *filled = buffers_filled(buffers);
    size_t length = recorder_write_event(
        end_of(filled), next_number(filled), monotonic_nanoseconds(), (int32_t)syscall(SYS_gettid), stage, reason,
        signal);
    add(filled, length, 1);
}

void buffers_append_end(struct buffers *buffers, const char *reason, int signal) {
    append_event(buffers, "end", reason, signal);
}

void buffers_append_fork(struct buffers *buffers) {
    if (has_room(buffers, maximum_end)) append_event(buffers, "fork", NULL, 0);
}

void buffers_swap(struct buffers *buffers) {
    struct buffer *filled = buffers_filled(buffers), *written = buffers_written(buffers);
    written->offset = filled->offset + (off_t)buffer_length(filled);
    empty(written, next_number(filled));
    atomic_signal_fence(memory_order_release);
    atomic_store_explicit(&buffers->filled_index, (int)(written - buffers->pair), memory_order_relaxed);
}

size_t buffers_end_writing(struct buffers *buffers, size_t written) {
    struct buffer *filled = buffers_filled(buffers), *full = buffers_written(buffers);
    size_t kept = written, length = buffer_length(full);
    while (kept > 0 && full->start[kept - 1] != '\n') kept--;
    // If the line about lost records is not in the file, the next line reports them again.
    if (kept <= full->reported_lost_offset) buffers->lost += full->reported_lost;
    full->reported_lost = 0;
    if (kept < length) {
        buffers_count_lost(buffers, records_from(full, kept));
        // The identities of threads may not be in the file.
        if (buffers->known_threads) memset(buffers->known_threads, 0, buffers->known_words * sizeof(uint64_t));
        filled->offset = full->offset + (off_t)kept;
    }
    empty(full, next_number(filled));
    return kept;
}

void buffers_empty(struct buffers *buffers) {
    uint64_t next = next_number(buffers_filled(buffers));
    empty(&buffers->pair[0], next);
    empty(&buffers->pair[1], next);
    // Orders this before the memory is freed, for a signal handler on this thread.
    atomic_signal_fence(memory_order_release);
}

void buffers_count_lost(struct buffers *buffers, uint64_t records) {
    buffers->lost += records;
    buffers->total_lost += records;
}

uint64_t buffers_waiting(struct buffers *buffers) { return records_from(buffers_filled(buffers), 0); }

void buffers_forget_thread(struct buffers *buffers, uint64_t number) {
    if (is_known(buffers, number)) buffers->known_threads[number / 64] &= ~((uint64_t)1 << number % 64);
}
