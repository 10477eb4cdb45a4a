#include "recorder.h"

#include <stdlib.h>

#include "delivery_recorder.h"

/// A token that `addObserver` returned. Foundation does not tell when a token is freed. A new token at the same address
/// replaces the old one here, so the table is not larger than the program's largest number of tokens.
struct token {
    const void *address;
    uint64_t observer;
    const void *center;
    /// Null if the observer was removed.
    struct handler *handler;
};

// Changed with the lock. No code of the program or of Foundation runs meanwhile.
static struct token *tokens;
static size_t capacity;
static size_t count;

/// The place of a token in the table: its entry, or an empty one.
static struct token *place(struct token *table, size_t table_capacity, const void *address) {
    size_t index = ((uintptr_t)address * 0x9e3779b97f4a7c15u) >> 20 & (table_capacity - 1);
    while (table[index].address != NULL && table[index].address != address) index = (index + 1) & (table_capacity - 1);
    return &table[index];
}

static bool grow(void) {
    size_t new_capacity = capacity == 0 ? 256 : capacity * 2;
    struct token *table = calloc(new_capacity, sizeof *table);
    if (table == NULL) return false;
    for (size_t index = 0; index < capacity; index++) {
        if (tokens[index].address != NULL) *place(table, new_capacity, tokens[index].address) = tokens[index];
    }
    free(tokens);
    tokens = table;
    capacity = new_capacity;
    return true;
}

void set_token(struct handler *handler, const void *address) {
    struct lock_holder holder = delivery_recorder_lock();
    if (count < capacity / 2 || grow()) {
        struct token *token = place(tokens, capacity, address);
        if (token->address == NULL) count++;
        *token = (struct token){address, handler->observer, handler->center, handler};
        handler->token = address;
    }
    lock_release(&holder);
}

uint64_t remove_token(const void *address, const void *center, bool *is_first) {
    uint64_t observer = 0;
    struct lock_holder holder = delivery_recorder_lock();
    struct token *token = capacity > 0 ? place(tokens, capacity, address) : NULL;
    if (token != NULL && token->center == center) {
        *is_first = token->handler != NULL;
        observer = token->observer;
        if (token->handler != NULL) {
            token->handler->is_removed = true;
            token->handler = NULL;
        }
    }
    lock_release(&holder);
    return observer;
}

bool forget_handler(struct handler *handler) {
    struct lock_holder holder = delivery_recorder_lock();
    bool was_registered = !handler->is_removed;
    if (was_registered && handler->token != NULL) {
        struct token *token = place(tokens, capacity, handler->token);
        if (token->handler == handler) token->handler = NULL;
    }
    lock_release(&holder);
    return was_registered;
}
