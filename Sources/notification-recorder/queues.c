// OperationQueue, where the handlers of `addObserver(forName:object:queue:using:)` run, and NotificationQueue.

#include "recorder.h"

#include <stdio.h>

typedef SWIFT_CALL void add_operation_function(swift_block_function *block, void *context, SWIFT_SELF void *queue);
typedef SWIFT_CALL void enqueue_function(
    const struct swift_notification *notification, uint8_t style, uintptr_t coalescing, void *modes,
    SWIFT_SELF void *queue);

#define ADD_OPERATION OPERATION_QUEUE "03addB0yyyyYbcF"
#define ENQUEUE                                                                                   \
    NOTIFICATION_QUEUE "7enqueue_12postingStyle12coalesceMask8forModesyAA0B0V_AC07PostingF0OAC0B" \
                       "10CoalescingVSayAA7RunLoopC4ModeVGSgtF"

// The vtable of a program's own subclass refers to the symbols.
add_operation_function add_operation INTERPOSE(ADD_OPERATION);
enqueue_function enqueue INTERPOSE(ENQUEUE);

struct method queue_methods[2] = {
    {.metadata = OPERATION_QUEUE "N", .symbol = ADD_OPERATION, .replacement = (const void *)add_operation},
    {.metadata = NOTIFICATION_QUEUE "N", .symbol = ENQUEUE, .replacement = (const void *)enqueue},
};

// A block that is added to an operation queue for a post. A Swift object.
struct block {
    struct swift_heap_object header;
    swift_block_function *function;
    void *context;
    uint64_t post;
};

static SWIFT_CALL void destroy_block(SWIFT_SELF void *box) {
    struct block *block = box;
    swift.release(block->context);
    swift.deallocObject(block, sizeof *block, _Alignof(struct block) - 1);
}

static const struct swift_box_metadata block_metadata = {
    .destroy = destroy_block, .kind = SWIFT_BOX_KIND, .first_capture = sizeof(struct swift_heap_object)};

static SWIFT_CALL void run_block(SWIFT_SELF void *box) {
    struct block *block = box;
    uint64_t outer_post = this_thread.post;
    this_thread.post = block->post;
    block->function(block->context);
    this_thread.post = outer_post;
}

SWIFT_CALL void add_operation(swift_block_function *function, void *context, SWIFT_SELF void *queue) {
    add_operation_function *next = FIND_ORIGINAL(ADD_OPERATION);
    struct thread_state *thread = &this_thread;
    // Other operations of the program pass through.
    if (thread->queueing == NULL) {
        next(function, context, queue);
        return;
    }
    thread->queueing = NULL;
    thread->handler_count++;
    struct block *block = swift.allocObject(&block_metadata.kind, sizeof *block, _Alignof(struct block) - 1);
    block->function = function;
    block->context = swift.retain(context);
    block->post = thread->post;
    next(run_block, block, queue);
    swift.release(block);
}

struct recorder_text queue_name(const void *queue, char address[20]) {
    typedef SWIFT_CALL void *main_function(SWIFT_SELF const void *class);
    main_function *main_queue = (main_function *)original(OPERATION_QUEUE "4mainACvgZ");
    void *main = main_queue != NULL ? main_queue(original(OPERATION_QUEUE "N")) : NULL;
    if (main != NULL) swift.release(main);
    if (queue == main) return (struct recorder_text)TEXT("main");
    return (struct recorder_text){address, (size_t)snprintf(address, 20, "%lx", (unsigned long)queue)};
}

SWIFT_CALL void enqueue(
    const struct swift_notification *notification, uint8_t style, uintptr_t coalescing, void *modes,
    SWIFT_SELF void *queue
) {
    enqueue_function *next = FIND_ORIGINAL(ENQUEUE);
    if (!is_recording()) {
        next(notification, style, coalescing, modes, queue);
        return;
    }
    static const struct recorder_text styles[] = {TEXT("whenIdle"), TEXT("asap"), TEXT("now")};
    struct recorder_record record = {.stage = TEXT("enqueue"), .name = swift_text(&notification->name)};
    if (style < 3) record.style = styles[style];
    describe_sender(&notification->object, &record);
    describe_call(__builtin_return_address(0), &record);
    append_record(&record);
    next(notification, style, coalescing, modes, queue);
}
