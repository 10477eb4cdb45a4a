// Handlers of `AsyncMessage`, which run in a task after the post.

#ifndef ASYNC_HANDLERS_H
#define ASYNC_HANDLERS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/// The function of a box whose handler is asynchronous; null if such handlers cannot be recorded.
extern const void *call_async_handler;

/// Sets `call_async_handler`. Returns false if the Swift runtime lacks what it needs.
bool prepare_async_handlers(void);

#pragma GCC visibility pop

#endif
