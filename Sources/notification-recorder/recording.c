#define _GNU_SOURCE
#include "recording.h"

#include <pthread.h>
#include <unistd.h>

__thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));
atomic_bool is_recording_now;
const struct notification_recorder *recorder;

static atomic_uint_fast64_t last_post;
static atomic_uint_fast64_t last_observer;
static atomic_uint_fast64_t last_thread = 1;

uint64_t new_post_number(void) { return atomic_fetch_add_explicit(&last_post, 1, memory_order_relaxed) + 1; }
uint64_t new_observer_number(void) { return atomic_fetch_add_explicit(&last_observer, 1, memory_order_relaxed) + 1; }

static const struct recorder_thread *this_thread_identity(void) {
    struct recorder_thread *identity = &this_thread.identity;
    if (identity->number != 0) return identity;
    identity->kernel_id = gettid();
    if (identity->kernel_id == getpid()) {
        identity->number = 1;
        identity->name = (struct recorder_text)STAGE("main");
    } else {
        identity->number = atomic_fetch_add_explicit(&last_thread, 1, memory_order_relaxed) + 1;
    }
    return identity;
}

uint64_t this_thread_number(void) { return this_thread_identity()->number; }

void append_record(struct recorder_record *record) {
    if (!is_recording()) return;
    record->thread = this_thread_identity();
    record->foundation = true;
    recorder->append(record);
}

struct post_scope begin_post(struct recorder_record *record) {
    struct thread_state *thread = &this_thread;
    struct post_scope scope = {*thread, thread->queued_post == 0};
    thread->post = scope.is_recorded ? new_post_number() : thread->queued_post;
    thread->handler_count = 0;
    thread->queued_post = 0;
    thread->queueing = NULL;
    if (scope.is_recorded) {
        record->post = thread->post;
        append_record(record);
    }
    return scope;
}

void end_post(const struct post_scope *scope, bool has_count) {
    struct thread_state *thread = &this_thread;
    if (scope->is_recorded) {
        struct recorder_record record = {
            .stage = STAGE("postEnd"), .post = thread->post, .has_count = has_count, .count = thread->handler_count};
        append_record(&record);
    }
    thread->post = scope->outer.post;
    thread->handler_count = scope->outer.handler_count;
    thread->queued_post = scope->outer.queued_post;
    thread->queueing = scope->outer.queueing;
}
