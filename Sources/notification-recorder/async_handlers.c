// The value of an asynchronous Swift function is the address of a record with the relative address of its code and the
// size of the context that its caller allocates with `swift_task_alloc`. A context begins with that of the caller and
// the function to call at the end, with the context that ends. All are tail calls.

#include "recorder.h"

#define SWIFT_ASYNC_CALL __attribute__((swiftasynccall))
#define SWIFT_ASYNC_CONTEXT __attribute__((swift_async_context))

struct async_context;
typedef SWIFT_ASYNC_CALL void async_end(SWIFT_ASYNC_CONTEXT struct async_context *context);
typedef SWIFT_ASYNC_CALL void async_code(
    const void *message, SWIFT_ASYNC_CONTEXT struct async_context *context, SWIFT_SELF void *box);

struct async_context {
    struct async_context *caller;
    async_end *end;
    uint64_t observer;  // of contexts of this file only
};

struct async_function {
    int32_t code;
    uint32_t context_size;
};

static struct async_function function = {.context_size = sizeof(struct async_context)};
const void *call_async_handler;

static SWIFT_CALL void *(*task_alloc)(size_t size);
static SWIFT_CALL void (*task_dealloc)(void *memory);

static void append_stage(struct recorder_text stage, uint64_t observer) {
    // The post is not known: Foundation copies the message into a stream.
    struct recorder_record record = {.stage = stage, .observer = observer};
    append_record(&record);
}

static SWIFT_ASYNC_CALL void end(SWIFT_ASYNC_CONTEXT struct async_context *ended) {
    struct async_context *context = ended->caller;
    task_dealloc(ended);
    append_stage((struct recorder_text)TEXT("return"), context->observer);
    __attribute__((musttail)) return context->end(context);
}

static SWIFT_ASYNC_CALL void begin(
    const void *message, SWIFT_ASYNC_CONTEXT struct async_context *context, SWIFT_SELF void *box
) {
    struct handler *handler = box;
    const struct async_function *called = (const void *)handler->function;
    context->observer = handler->observer;
    append_stage((struct recorder_text)TEXT("deliver"), handler->observer);
    struct async_context *next = task_alloc(called->context_size);
    next->caller = context;
    next->end = end;
    async_code *code = (async_code *)((intptr_t)called + called->code);
    __attribute__((musttail)) return code(message, next, handler->context);
}

bool prepare_async_handlers(void) {
    task_alloc = original("swift_task_alloc");
    task_dealloc = original("swift_task_dealloc");
    intptr_t code = (intptr_t)begin - (intptr_t)&function;
    function.code = (int32_t)code;
    if (task_alloc == NULL || task_dealloc == NULL || function.code != code) return false;
    call_async_handler = &function;
    return true;
}
