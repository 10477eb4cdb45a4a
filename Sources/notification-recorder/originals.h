// The functions of the Swift runtime and of Foundation that this library calls, found by name.

#ifndef ORIGINALS_H
#define ORIGINALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <notification_recorder.h>
#include "install.h"
#include "swift_abi.h"

#pragma GCC visibility push(hidden)

/// Functions of the Swift runtime. All are there if `find_swift_runtime` returned true.
struct swift_runtime {
    void *(*allocObject)(const void *metadata, size_t size, size_t alignment_mask);
    void (*deallocObject)(void *object, size_t size, size_t alignment_mask);
    void *(*retain)(void *object);
    void (*release)(void *object);
    SWIFT_CALL struct recorder_text (*getTypeName)(const void *type, bool is_qualified);
};
extern struct swift_runtime swift;

bool find_swift_runtime(void);

/// The definition of a symbol that comes after this library's own; null if there is none.
void *original(const char *symbol);

/// The same, also in libraries that were loaded with `dlopen` for themselves.
void *original_of_any_library(const char *symbol);

/// The definition that a function of this library interposes, found at the first call. It is there, because the caller
/// was linked with it.
#define FIND_ORIGINAL(symbol)                                                       \
    ({                                                                              \
        static _Atomic(void *) found;                                               \
        void *next = atomic_load_explicit(&found, memory_order_acquire);            \
        if (next == NULL) {                                                         \
            next = original_of_any_library(symbol);                                 \
            note_late_foundation();                                                 \
            atomic_store_explicit(&found, next, memory_order_release);              \
        }                                                                           \
        next;                                                                       \
    })

/// Makes a function of this library the definition of a symbol.
#define INTERPOSE(symbol) __asm__(symbol) __attribute__((visibility("default")))

#define CENTER "$s20FoundationEssentials18NotificationCenterC"
#define OPERATION_QUEUE "$s10Foundation14OperationQueueC"
#define NOTIFICATION_QUEUE "$s10Foundation17NotificationQueueC"

#pragma GCC visibility pop

#endif
