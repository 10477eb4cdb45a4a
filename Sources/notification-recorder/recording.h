// The state of recording, and of the calling thread.

#ifndef RECORDING_H
#define RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "notification_recorder.h"

struct handler;

/// A call of `addObserver(forName:object:queue:using:)` that has not reached the center's method.
struct registration {
    /// The handler that Foundation's own handler will call in the queue; null without a queue.
    struct handler *queued;
    struct recorder_text queue;
    /// Set by the center's method: the handler that the center has.
    struct handler *added;
};

/// What this library knows of a thread. It holds no memory, so that nothing is left to do when the thread ends.
struct thread_state {
    /// The post whose handlers the thread runs; how many it has called.
    uint64_t post;
    uint64_t handler_count;
    /// Set by `begin_queued_post`.
    uint64_t queued_post;
    /// Greater than 0 between `begin_unrecorded` and `end_unrecorded`.
    unsigned unrecorded_depth;
    /// The return address of a function of Foundation that is about to call a method of the center.
    const void *call_site;
    /// The registration that Foundation is about to make.
    struct registration *registration;
    /// The token whose registration Foundation is about to remove.
    const void *removed_token;
    /// The handler that is about to add an operation to a queue.
    struct handler *queueing;
    struct recorder_thread identity;
};

extern __thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));

extern atomic_bool is_recording_now;
extern const struct notification_recorder *recorder;

static inline bool is_recording(void) {
    return atomic_load_explicit(&is_recording_now, memory_order_relaxed);
}

uint64_t new_post_number(void);
uint64_t new_observer_number(void);
uint64_t this_thread_number(void);

/// Appends a record of this thread and Foundation's.
void append_record(struct recorder_record *record);

/// What a post replaces in the state of the thread, so that handlers can post.
struct post_scope {
    struct thread_state outer;
    bool is_recorded;
};

/// Numbers a post, appends its record, and makes it the thread's.
struct post_scope begin_post(struct recorder_record *record);
/// Appends `postEnd`. `has_count` is false if the handlers are called later.
void end_post(const struct post_scope *scope, bool has_count);

#define STAGE(text) {text, sizeof text - 1}

#endif
