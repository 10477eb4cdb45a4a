// The state of recording, and of the calling thread.

#ifndef RECORDING_H
#define RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>

#include <notification_recorder.h>

#pragma GCC visibility push(hidden)

struct handler;

/// A call of `addObserver(forName:object:queue:using:)` that has not reached the center's method.
struct registration {
    /// The handler that Foundation's own handler will call in the queue; null without a queue.
    struct handler *queued;
    struct recorder_text queue;
    /// Set by the center's method: the handler that it has added, retained.
    struct handler *added;
};

/// The state of a thread. It owns no memory, so nothing has to be freed when the thread ends.
struct thread_state {
    /// The post whose handlers the thread runs, or 0, and how many it has called.
    uint64_t post;
    uint64_t handler_count;
    /// The handler that is about to add an operation to a queue.
    struct handler *queueing;
    /// Set by `begin_queued_post`.
    uint64_t queued_post;
    /// True if Dispatch created the thread for its pool.
    bool is_in_pool;
    /// True between `begin_own_observer` and `end_own_observer`.
    bool is_own_observer;
    /// The return address of a function of Foundation that is about to call a method of the center.
    const void *call_site;
    /// The registration that Foundation is about to make.
    struct registration *registration;
    /// The token whose registration Foundation is about to remove.
    const void *removed_token;
};

extern __thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));

extern atomic_bool is_recording_now;

/// True if the use of Foundation is recorded.
static inline bool is_recording(void) { return atomic_load_explicit(&is_recording_now, memory_order_relaxed); }

// Numbers that the library ThreadedNotifications uses too.
uint64_t new_post_number(void);
uint64_t new_observer_number(void);
uint64_t this_thread_number(void);

/// Remembers the name that a program gave the calling thread.
void name_this_thread(const struct recorder_thread *identity);
/// The calling thread is the only one of a forked process.
void renew_this_thread(void);

/// Appends a record about Foundation.
void append_record(struct recorder_record *record);

/// The part of the thread's state that a post replaces until it returns. A handler may post.
struct post_scope {
    uint64_t post;
    uint64_t handler_count;
    struct handler *queueing;
    uint64_t queued_post;
};

/// Appends the record of a post, with a new number, unless the caller of `begin_queued_post` has done so.
struct post_scope begin_post(struct recorder_record *record);
/// Appends `postEnd`. `has_count` is false if handlers are called later.
void end_post(const struct post_scope *scope, bool has_count);

#define TEXT(literal) {literal, sizeof literal - 1}

#pragma GCC visibility pop

#endif
