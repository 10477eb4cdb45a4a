#include "recorder.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/// A token that `addObserver` returned. Foundation does not tell when a token is freed. A new token at the same address
/// replaces the old one here, so the table is not larger than the program's largest number of tokens.
struct token {
    const void *address;
    uint64_t observer;
    const void *center;
    /// Null if the observer was removed.
    struct handler *handler;
};

// No code of the program or of Foundation runs under this lock. The thread that holds it gets no signals, because a
// signal handler may fork. It may take the lock several times: a hook of `fork` may add observers.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread unsigned nesting __attribute__((tls_model("initial-exec")));
static struct token *tokens;
static size_t capacity;
static size_t count;

/// Returns the signals that were blocked before.
static sigset_t take_lock(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (nesting++ == 0) pthread_mutex_lock(&lock);
    return before;
}

static void release_lock(sigset_t before) {
    if (--nesting == 0) pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

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
    sigset_t signals = take_lock();
    if (count < capacity / 2 || grow()) {
        struct token *token = place(tokens, capacity, address);
        if (token->address == NULL) count++;
        *token = (struct token){address, handler->observer, handler->center, handler};
        handler->token = address;
    }
    release_lock(signals);
}

uint64_t remove_token(const void *address, const void *center, bool *is_first) {
    uint64_t observer = 0;
    sigset_t signals = take_lock();
    struct token *token = capacity > 0 ? place(tokens, capacity, address) : NULL;
    if (token != NULL && token->center == center) {
        *is_first = token->handler != NULL;
        observer = token->observer;
        if (token->handler != NULL) {
            token->handler->is_removed = true;
            token->handler = NULL;
        }
    }
    release_lock(signals);
    return observer;
}

bool forget_handler(struct handler *handler) {
    sigset_t signals = take_lock();
    bool was_registered = !handler->is_removed;
    if (was_registered && handler->token != NULL) {
        struct token *token = place(tokens, capacity, handler->token);
        if (token->handler == handler) token->handler = NULL;
    }
    release_lock(signals);
    return was_registered;
}

/// The signals of the thread that forks, which has the lock meanwhile.
static sigset_t forking_signals;

void lock_observers(void) {
    sigset_t signals = take_lock();
    forking_signals = signals;
}

void unlock_observers(void) {
    // A copy: another thread may fork as soon as the lock is free.
    sigset_t signals = forking_signals;
    release_lock(signals);
}
