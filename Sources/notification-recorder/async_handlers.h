// Handlers of `AsyncMessage`, which run in a task after the post.

#ifndef ASYNC_HANDLERS_H
#define ASYNC_HANDLERS_H

#include <stdbool.h>

/// The function of a `struct handler` whose own function is asynchronous.
extern const void *const call_async_handler;

/// Finds what asynchronous handlers need. Returns false if something is missing.
bool prepare_async_handlers(void);

#endif
