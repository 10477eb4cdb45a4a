// The declarations that the files of this library share, by the file that defines them.

#ifndef RECORDER_H
#define RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <notification_recorder.h>
#include "swift_abi.h"

#pragma GCC visibility push(hidden)

// MARK: recording.c

struct handler;

/// A call of `addObserver(forName:object:queue:using:)` that has not reached the center's method.
struct registration {
    /// The handler that Foundation's own handler will call in the queue; null without a queue.
    struct handler *queued;
    struct recorder_text queue;
    /// Set by the center's method: the handler that it has added, retained.
    struct handler *added;
};

/// The state of a thread. It owns no memory, so nothing has to be freed when the thread ends.
struct thread_state {
    /// The post whose handlers the thread runs, or 0, and how many it has called.
    uint64_t post;
    uint64_t handler_count;
    /// The handler that is about to add an operation to a queue.
    struct handler *queueing;
    /// Set by `begin_queued_post`.
    uint64_t queued_post;
    /// True if Dispatch created the thread for its pool.
    bool is_in_pool;
    /// True between `begin_own_observer` and `end_own_observer`.
    bool is_own_observer;
    /// The return address of a function of Foundation that is about to call a method of the center.
    const void *call_site;
    /// The registration that Foundation is about to make.
    struct registration *registration;
    /// The token whose registration Foundation is about to remove.
    const void *removed_token;
};

extern __thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));

extern atomic_bool is_recording_now;

/// True if the use of Foundation is recorded.
static inline bool is_recording(void) { return atomic_load_explicit(&is_recording_now, memory_order_relaxed); }

// Numbers that the library ThreadedNotifications uses too.
uint64_t new_post_number(void);
uint64_t new_observer_number(void);
uint64_t this_thread_number(void);

/// Remembers the name that a program gave the calling thread.
void name_this_thread(const struct recorder_thread *identity);
/// The calling thread is the only one of a forked process.
void renew_this_thread(void);

/// Appends a record about Foundation.
void append_record(struct recorder_record *record);

/// The part of the thread's state that a post replaces until it returns. A handler may post.
struct post_scope {
    uint64_t post;
    uint64_t handler_count;
    struct handler *queueing;
    uint64_t queued_post;
};

/// Appends the record of a post, with a new number, unless the caller of `begin_queued_post` has done so.
struct post_scope begin_post(struct recorder_record *record);
/// Appends `postEnd`. `has_count` is false if handlers are called later.
void end_post(const struct post_scope *scope, bool has_count);

#define TEXT(literal) {literal, sizeof literal - 1}

// MARK: originals.c

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

// MARK: install.c

/// True if NotificationCenter's methods were replaced.
extern bool is_installed;

/// Writes a line that says that the use of Foundation is not recorded, if the program loaded it after it began. A
/// function of Foundation was called.
void note_late_foundation(void);

// MARK: call_sites.c

/// Stores the path of the executable. Call once, before other threads use `describe_call`. Without `/proc` it is not
/// known: calls in the executable have no `at` then.
void find_executable(void);

/// The call that a function of Foundation has left in the state of the thread, once; otherwise `return_address`.
const void *take_call_site(const void *return_address);

/// Fills in `at` and `function` of a record for a return address, which may be null.
void describe_call(const void *return_address, struct recorder_record *record);

// MARK: executable.c

/// True if the executable has Swift code, as far as its section headers tell.
bool executable_has_swift_code(void);

// MARK: swift_values.c

/// The UTF-8 of a string; null for nil. It refers to the string itself.
struct recorder_text swift_text(const struct swift_string *string);

/// The name of a type, as `String(describing:)`, or as `_typeName` if it is qualified.
struct recorder_text swift_type_name(const void *type, bool is_qualified);

/// Fills in sender and type of a record.
void describe_sender(const struct swift_any *sender, struct recorder_record *record);
void describe_object(const void *object, struct recorder_record *record);

/// The object in a value; null for nil and for other values.
const void *object_in(const struct swift_any *value);

// MARK: vtable.c

/// A method in the vtable of a class.
struct method {
    /// The symbols of the class's metadata and of the method.
    const char *metadata;
    const char *symbol;
    const void *replacement;
    /// Set by `replace_methods`: the method, and its place in the vtable.
    void *original;
    void **slot;
};

/// Replaces methods. Changes nothing and returns false if the vtable of a class does not contain a method exactly once.
bool replace_methods(struct method *methods, size_t count);

// MARK: centers.c

extern struct method center_methods[3];

// MARK: queues.c

extern struct method queue_methods[2];

/// The name of an operation queue in a record: `main`, or its address.
/// - Parameter address: memory that the name may use.
struct recorder_text queue_name(const void *queue, char address[20]);

// MARK: async_handlers.c

/// The function of a box whose handler is asynchronous; null if such handlers cannot be recorded.
extern const void *call_async_handler;

/// Sets `call_async_handler`. Returns false if the Swift runtime lacks what it needs.
bool prepare_async_handlers(void);

// MARK: threads.c

/// Finds the library of Dispatch. Call before it creates threads.
void prepare_threads(void);

// MARK: address_table.c

// A table from addresses to values that are computed once and never change. It has no lock.

#define ADDRESS_TABLE_CAPACITY 8192

struct address_table {
    struct {
        _Atomic(uintptr_t) key;
        _Atomic(const void *) value;
    } entries[ADDRESS_TABLE_CAPACITY];
    atomic_uint count;
};

/// The value of a key, or null.
const void *address_table_value(struct address_table *table, uintptr_t key);

/// True if the table accepts no more keys.
bool address_table_is_full(struct address_table *table);

/// Adds a value, unless the key is there or the table is full.
void address_table_add(struct address_table *table, uintptr_t key, const void *value);

// MARK: observers.c and handlers.c

// Foundation's observers: their handlers, numbers and tokens.
//
// A handler is given to Foundation inside a box of this library, whose function records the handler's begin and return.
// Foundation destroys the box with the registration. That is the only sign of a registration that ends with its
// `ObservationToken` or with the center.

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

#pragma GCC visibility pop

#endif
