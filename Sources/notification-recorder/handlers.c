#include "recorder.h"

static SWIFT_CALL void destroy_handler(SWIFT_SELF void *box);

static const struct swift_box_metadata metadata = {
    .destroy = destroy_handler, .kind = SWIFT_BOX_KIND, .first_capture = sizeof(struct swift_heap_object)};

struct handler *new_handler(
    enum handler_kind kind, const void *function, void *context, uint64_t observer, const void *center
) {
    struct handler *handler = swift.allocObject(&metadata.kind, sizeof *handler, _Alignof(struct handler) - 1);
    handler->function = (swift_handler_function *)function;
    handler->context = swift.retain(context);
    handler->center = center;
    handler->kind = kind;
    handler->observer = observer;
    handler->token = NULL;
    handler->is_removed = false;
    handler->ends_with_token = false;
    atomic_init(&handler->post, 0);
    handler->queued = NULL;
    return handler;
}

static SWIFT_CALL void destroy_handler(SWIFT_SELF void *box) {
    struct handler *handler = box;
    if (handler->kind != QUEUED_HANDLER && forget_handler(handler)) {
        struct recorder_record record = {
            .stage = TEXT("remove"), .observer = handler->observer, .has_count = true};
        const void *site = take_call_site(NULL);
        // Without a call, its token or its center was released.
        if (site != NULL) record.reason = (struct recorder_text)TEXT("cancelled");
        else if (handler->ends_with_token) record.reason = (struct recorder_text)TEXT("released");
        describe_call(site, &record);
        append_record(&record);
    }
    swift.release(handler->context);
    swift.deallocObject(handler, sizeof *handler, _Alignof(struct handler) - 1);
}

/// Calls a handler of the program.
static void call_recorded(struct handler *handler, const void *message) {
    struct recorder_record record = {
        .stage = TEXT("deliver"), .post = this_thread.post, .observer = handler->observer};
    this_thread.handler_count++;
    append_record(&record);
    handler->function(message, handler->context);
    record.stage = (struct recorder_text)TEXT("return");
    append_record(&record);
}

SWIFT_CALL void call_handler(const void *message, SWIFT_SELF void *box) {
    struct handler *handler = box;
    struct thread_state *thread = &this_thread;
    struct handler *outer = thread->queueing;
    switch (handler->kind) {
    case HANDLER:
        call_recorded(handler, message);
        break;
    case QUEUEING_HANDLER:
        // It calls `addOperation`, or the queued handler itself if this thread runs an operation of the queue.
        if (handler->queued != NULL) atomic_store_explicit(&handler->queued->post, thread->post, memory_order_relaxed);
        thread->queueing = handler;
        handler->function(message, handler->context);
        break;
    case QUEUED_HANDLER: {
        // An operation queue that overrides `addOperation` may have started the operation.
        uint64_t outer_post = thread->post;
        thread->queueing = NULL;
        if (outer_post == 0) thread->post = atomic_load_explicit(&handler->post, memory_order_relaxed);
        call_recorded(handler, message);
        thread->post = outer_post;
        break;
    }
    }
    thread->queueing = outer;
}
