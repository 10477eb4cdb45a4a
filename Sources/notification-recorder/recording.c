#define _GNU_SOURCE
#include "recorder.h"

#include <string.h>
#include <unistd.h>

#include "delivery_recorder.h"

__thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));
atomic_bool is_recording_now;

// MARK: Numbers

static atomic_uint_fast64_t last_post;
static atomic_uint_fast64_t last_observer;
static atomic_uint_fast64_t last_thread = 1;

static uint64_t next(atomic_uint_fast64_t *last) {
    return atomic_fetch_add_explicit(last, 1, memory_order_relaxed) + 1;
}

uint64_t new_post_number(void) { return next(&last_post); }
uint64_t new_observer_number(void) { return next(&last_observer); }

// MARK: Threads

static __thread struct recorder_thread identity __attribute__((tls_model("initial-exec")));
static __thread char thread_name[64] __attribute__((tls_model("initial-exec")));

static const struct recorder_thread *this_thread_identity(void) {
    if (identity.number != 0) return &identity;
    identity.kernel_id = gettid();
    identity.pool = this_thread.is_in_pool;
    if (identity.kernel_id == getpid()) {
        identity.number = 1;
        identity.name = (struct recorder_text)TEXT("main");
    } else {
        identity.number = next(&last_thread);
    }
    return &identity;
}

uint64_t this_thread_number(void) { return this_thread_identity()->number; }

void name_this_thread(const struct recorder_thread *named) {
    if (named->number == 1 || named->number != identity.number || named->name.length > sizeof thread_name) return;
    memcpy(thread_name, named->name.start, named->name.length);
    identity.name = (struct recorder_text){thread_name, named->name.length};
}

void renew_this_thread(void) {
    if (identity.number != 0) identity.kernel_id = gettid();
}

// MARK: Records

void append_record(struct recorder_record *record) {
    if (!is_recording()) return;
    record->thread = *this_thread_identity();
    record->foundation = true;
    delivery_recorder()->append(record);
}

struct post_scope begin_post(struct recorder_record *record) {
    struct thread_state *thread = &this_thread;
    struct post_scope outer = {thread->post, thread->handler_count, thread->queueing, thread->queued_post};
    thread->post = outer.queued_post != 0 ? outer.queued_post : new_post_number();
    thread->handler_count = 0;
    thread->queueing = NULL;
    thread->queued_post = 0;
    record->post = thread->post;
    if (outer.queued_post == 0) append_record(record);
    return outer;
}

void end_post(const struct post_scope *outer, bool has_count) {
    struct thread_state *thread = &this_thread;
    if (outer->queued_post == 0) {
        struct recorder_record record = {
            .stage = TEXT("postEnd"), .post = thread->post, .has_count = has_count, .count = thread->handler_count};
        append_record(&record);
    }
    thread->post = outer->post;
    thread->handler_count = outer->handler_count;
    thread->queueing = outer->queueing;
    thread->queued_post = outer->queued_post;
}
