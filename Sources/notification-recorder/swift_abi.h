// The parts of Swift's calling convention and data layout on 64-bit Linux that this library depends on.
//
// Safety: each of these facts is part of the stable Swift ABI, or is checked before it is used.
// - `swiftcall` passes `self`, or the context of a closure, in a register of its own (`swift_context`). A generic
//   value, `Any` and `Any?` are passed as the address of the value. A struct of up to four words is returned in
//   registers.
// - `String` and `String?` are two words (see `swift_text`). `Any` is three words for the value, or the address of a
//   box, and the metadata of the type; null metadata means nil.
// - A closure is two words, code and context. The caller keeps the context alive until the call returns. Code that
//   stores the closure retains the context. A handler gets the address of the notification or message.
// - A heap object begins with the address of its metadata and a reference count. The word before the metadata is the
//   value witness table of the type, and the one before that is the function that destroys the object.
// - Metadata begins with its kind. The kind of a class is 0, or an address, which is greater than the last kind.
// - NotificationCenter, NotificationQueue and OperationQueue are not resilient: the symbol of the metadata (…CN) is its
//   address, and it contains the addresses of the methods. Their positions are found by comparing these words with
//   the addresses of the methods' symbols.
// - The sizes of the observer key and of `Notification` are compared with their value witness tables.

#ifndef SWIFT_ABI_H
#define SWIFT_ABI_H

#include <stddef.h>
#include <stdint.h>

#define SWIFT_CALL __attribute__((swiftcall))
#define SWIFT_SELF __attribute__((swift_context))

/// `String` or `String?`.
struct swift_string {
    uintptr_t flags;
    uintptr_t object;  // 0 for nil
};

/// `Any` or `Any?`.
struct swift_any {
    uintptr_t value[3];
    const void *type;  // null for nil
};

/// The result of `_addObserver` and the parameter of `_removeObserver`.
struct swift_observer_key {
    uintptr_t words[4];
};

/// `Notification`.
struct swift_notification {
    struct swift_string name;
    struct swift_any object;
    void *user_info;
};

/// A class existential with one witness table, such as `NSObjectProtocol`.
struct swift_object {
    void *object;
    const void *witnesses;
};

struct swift_heap_object {
    const void *metadata;
    uintptr_t reference_count;
};

/// The metadata of a closure's context.
struct swift_box_metadata {
    SWIFT_CALL void (*destroy)(SWIFT_SELF void *box);
    const void *witnesses;
    uintptr_t kind;
    uint32_t first_capture;
    const void *capture_description;
};

#define SWIFT_BOX_KIND 0x400
#define SWIFT_LAST_KIND 0x7ff
#define SWIFT_FOREIGN_CLASS_KIND 0x203

/// The size of a value in its type's value witness table.
static inline size_t swift_size(const void *type) {
    const size_t *witnesses = ((const size_t *const *)type)[-1];
    return witnesses[8];
}

typedef SWIFT_CALL void swift_handler_function(const void *message, SWIFT_SELF void *context);
typedef SWIFT_CALL void swift_block_function(SWIFT_SELF void *context);

#endif
