// Foundation's observers: their handlers, numbers and tokens.
//
// A handler is given to Foundation inside a box of this library, whose function records the handler's begin and return.
// Foundation destroys the box with the registration. That is the only sign of a registration that ends with its
// `ObservationToken` or with the center.

#ifndef OBSERVERS_H
#define OBSERVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "swift_abi.h"

#pragma GCC visibility push(hidden)

enum handler_kind {
    /// Foundation calls it for the post.
    HANDLER,
    /// Foundation's own, which adds an operation to a queue and waits.
    QUEUEING_HANDLER,
    /// Runs in that operation.
    QUEUED_HANDLER,
};

/// A handler in a box: a Swift object.
struct handler {
    struct swift_heap_object header;
    swift_handler_function *function;
    void *context;
    enum handler_kind kind;
    uint64_t observer;
    const void *center;
    /// The token that the caller of `addObserver` got, or null.
    const void *token;
    bool is_removed;
    /// True if the release of the token removes the observer, as that of an `ObservationToken` does.
    bool ends_with_token;
    /// Of QUEUEING_HANDLER: the QUEUED_HANDLER, which `context` keeps alive.
    struct handler *queued;
    /// Of QUEUED_HANDLER: the latest post.
    _Atomic(uint64_t) post;
};

/// A new box, which the caller has to release.
struct handler *new_handler(
    enum handler_kind kind, const void *function, void *context, uint64_t observer, const void *center);

/// The function of a box.
SWIFT_CALL void call_handler(const void *message, SWIFT_SELF void *box);

/// Remembers the token of a handler that was added.
void set_token(struct handler *handler, const void *token);

/// A handler is about to be destroyed. Returns true if its removal was not seen.
bool forget_handler(struct handler *handler);

/// Returns the number of the observer with a token that is about to be removed from a center, or 0 if the token is
/// unknown or that of another center. `is_first` is false if it was removed before.
uint64_t remove_token(const void *token, const void *center, bool *is_first);

// For `fork`, which must not copy a lock that another thread holds.
void lock_observers(void);
void unlock_observers(void);

#pragma GCC visibility pop

#endif
