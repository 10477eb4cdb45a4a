// A library with the symbols, calling convention and data layout of the Swift runtime and Foundation that the recorder
// uses. With it the recorder is tested under the thread sanitizer.

#include "foundation.h"

#include <pthread.h>
#include <stdlib.h>

// MARK: The Swift runtime

void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask) {
    (void)alignment_mask;
    struct swift_heap_object *object = calloc(1, size);
    *object = (struct swift_heap_object){metadata, 1};
    return object;
}

void swift_deallocObject(void *object, size_t size, size_t alignment_mask) {
    (void)size, (void)alignment_mask;
    free(object);
}

void *swift_retain(void *object) {
    struct swift_heap_object *header = object;
    if (object) __atomic_fetch_add(&header->reference_count, 1, __ATOMIC_RELAXED);
    return object;
}

void swift_release(void *object) {
    struct swift_heap_object *header = object;
    if (!object || __atomic_sub_fetch(&header->reference_count, 1, __ATOMIC_ACQ_REL) > 0) return;
    const struct swift_box_metadata *metadata =
        (const void *)((const char *)header->metadata - offsetof(struct swift_box_metadata, kind));
    metadata->destroy(object);
}

SWIFT_CALL struct recorder_text swift_getTypeName(const void *type, bool is_qualified) {
    (void)type, (void)is_qualified;
    return (struct recorder_text){"Sender", 6};
}

// MARK: The center's methods

enum { capacity = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    swift_handler_function *function;
    void *context;
} observers[capacity];

SWIFT_CALL struct swift_observer_key add(
    struct swift_string name, const struct swift_any *sender, swift_handler_function *function, void *context,
    const void *type, SWIFT_SELF void *center
) {
    (void)name, (void)sender, (void)type, (void)center;
    pthread_mutex_lock(&lock);
    uintptr_t key = 0;
    while (observers[key].function) key++;
    observers[key].function = function;
    observers[key].context = swift_retain(context);
    pthread_mutex_unlock(&lock);
    return (struct swift_observer_key){{key, 0, 0, 0}};
}

SWIFT_CALL void remove_key(struct swift_observer_key key, SWIFT_SELF void *center) {
    (void)center;
    pthread_mutex_lock(&lock);
    observers[key.words[0]].function = NULL;
    // Foundation, too, releases the handler with its lock.
    swift_release(observers[key.words[0]].context);
    observers[key.words[0]].context = NULL;
    pthread_mutex_unlock(&lock);
}

SWIFT_CALL void post(
    struct swift_string name, const struct swift_any *sender, const void *message, const void *type,
    SWIFT_SELF void *center
) {
    (void)name, (void)sender, (void)type, (void)center;
    for (size_t index = 0; index < capacity; index++) {
        pthread_mutex_lock(&lock);
        swift_handler_function *function = observers[index].function;
        void *context = swift_retain(observers[index].context);
        pthread_mutex_unlock(&lock);
        if (function) function(message, context);
        swift_release(context);
    }
}

struct vtable vtable = {.post = post, .add = add, .remove = remove_key};

/// The value witness table of the observer key, of which only the size is used.
static const size_t key_witnesses[9] = {[8] = sizeof(struct swift_observer_key)};
const void *key_metadata[2] = {key_witnesses, NULL};
__asm__(".globl \"" CENTER "01_C13ObserverTokenVN\"\n.set \"" CENTER "01_C13ObserverTokenVN\", key_metadata + 8\n");

// MARK: The functions that programs call

struct token {
    struct swift_heap_object header;
    struct swift_observer_key key;
};

static SWIFT_CALL void destroy_token(SWIFT_SELF void *token) { free(token); }

static const struct swift_box_metadata token_metadata = {.destroy = destroy_token};

SWIFT_CALL struct swift_object add_observer(
    struct swift_string name, const struct swift_any *object, void *queue, swift_handler_function *function,
    void *context, SWIFT_SELF void *center
) {
    (void)queue;
    struct token *token = swift_allocObject(&token_metadata.kind, sizeof *token, 7);
    token->key = vtable.add(name, object, function, context, NULL, center);
    return (struct swift_object){token, NULL};
}

SWIFT_CALL void remove_observer(const struct swift_any *observer, SWIFT_SELF void *center) {
    vtable.remove(((const struct token *)observer->value[0])->key, center);
}
