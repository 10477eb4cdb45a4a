// pthread_create: notes which threads are those of Dispatch's pool.

#define _GNU_SOURCE
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "originals.h"
#include "recording.h"

struct start {
    void *(*function)(void *);
    void *argument;
};

static const void *dispatch_library;

static const void *library_of(const void *address) {
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

void find_dispatch(void) { dispatch_library = library_of(original("dispatch_async_f")); }

static void *run_pool_thread(void *context) {
    struct start start = *(struct start *)context;
    free(context);
    this_thread.is_in_pool = true;
    return start.function(start.argument);
}

__attribute__((visibility("default"))) int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument
) {
    typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create_function *next = (create_function *)original("pthread_create");
    if (next == NULL) return EAGAIN;
    struct start *start = NULL;
    if (dispatch_library != NULL && library_of((const void *)function) == dispatch_library) {
        start = malloc(sizeof *start);
    }
    if (start == NULL) return next(thread, attributes, function, argument);
    *start = (struct start){function, argument};
    int error = next(thread, attributes, run_pool_thread, start);
    if (error != 0) free(start);
    return error;
}
