// What this library assumes of Swift's calling convention and data layout on 64-bit Linux.
//
// Safety: everything here is part of the stable Swift ABI or is checked before it is used.
// - Calling convention: `swiftcall` passes `self`, or the context of a closure, in a register of its own
//   (`swift_context`). A generic value, `Any` and `Any?` are passed as the address of the value. A struct of up to four
//   words is returned in registers.
// - `String` and `String?` are two words (see `swift_text`). `Any` is three words for the value, or the address of a box,
//   and the type's metadata; metadata that is null means nil.
// - A function parameter is two words, code and context. The caller keeps the context alive until the call returns; who
//   stores it retains it. An observer's handler gets the address of the notification or message.
// - A heap object begins with the address of its metadata and a reference count. The word before the metadata is its
//   value witness table, and the one before that is the function that destroys the object.
// - A metadata record begins with its kind. Classes have kind 0, or an address above the last kind.
// - `NotificationCenter` and `NotificationQueue` are not resilient classes: the metadata symbol (…CN) is the address of
//   the record, and the addresses of its methods are words of that record. Their positions are found by comparing the
//   words with the addresses of the methods' symbols.

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

/// What `_addObserver` returns and `_removeObserver` expects.
struct swift_observer_key {
    uintptr_t words[4];
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

typedef SWIFT_CALL void swift_handler_function(const void *message, SWIFT_SELF void *context);
typedef SWIFT_CALL void swift_block_function(SWIFT_SELF void *context);

#endif
