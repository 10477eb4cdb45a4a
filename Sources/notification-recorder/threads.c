// pthread_create: notes which threads are those of Dispatch's pool.

#define _GNU_SOURCE
#include "recorder.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct start {
    void *(*function)(void *);
    void *argument;
};

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

// Found once: a search takes the loader's lock, and a thread may be created while another one has it.
static _Atomic(create_function *) original_create;
/// The code of Dispatch.
static struct { uintptr_t start, size; } dispatch;

static create_function *find_create(void) {
    create_function *found = atomic_load(&original_create);
    if (found == NULL) atomic_store(&original_create, found = (create_function *)original("pthread_create"));
    return found;
}

static int find_segment(struct dl_phdr_info *module, size_t size, void *address) {
    (void)size;
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &module->dlpi_phdr[index];
        const uintptr_t start = module->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || (uintptr_t)address - start >= segment->p_memsz) continue;
        dispatch.start = start;
        dispatch.size = segment->p_memsz;
        return 1;
    }
    return 0;
}

void prepare_threads(void) {
    find_create();
    void *function = original("dispatch_async_f");
    if (function != NULL) dl_iterate_phdr(find_segment, function);
}

static void *run_pool_thread(void *context) {
    struct start start = *(struct start *)context;
    free(context);
    this_thread.is_in_pool = true;
    return start.function(start.argument);
}

__attribute__((visibility("default"))) int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument
) {
    create_function *next = find_create();
    if (next == NULL) return EAGAIN;
    struct start *start = NULL;
    if ((uintptr_t)function - dispatch.start < dispatch.size) start = malloc(sizeof *start);
    if (start == NULL) return next(thread, attributes, function, argument);
    *start = (struct start){function, argument};
    int error = next(thread, attributes, run_pool_thread, start);
    if (error != 0) free(start);
    return error;
}
