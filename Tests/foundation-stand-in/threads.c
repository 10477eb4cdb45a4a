// Eight threads post, add and remove observers at one center.

#include <pthread.h>
#include <stdlib.h>

#include "foundation.h"

static uintptr_t center[2] = {(uintptr_t)&vtable, 1};
static const struct swift_string name = {0x0000006465766153, 0xe500000000000000}; // "Saved"
static _Thread_local unsigned depth;

static SWIFT_CALL void handle(const void *message, SWIFT_SELF void *context) {
    (void)context;
    struct swift_any sender = {{(uintptr_t)&center, 0, 0}, &vtable};
    if (depth++ == 0) vtable.post(name, &sender, message, NULL, center);
    depth--;
}

static void *run(void *unused) {
    (void)unused;
    for (int round = 0; round < 50; round++) {
        struct swift_object token = add_observer(name, NULL, NULL, handle, NULL, center);
        struct swift_any sender = {{0, 0, 0}, NULL};
        vtable.post(name, &sender, NULL, NULL, center);
        struct swift_any observer = {{(uintptr_t)token.object, 0, 0}, &vtable};
        remove_observer(&observer, center);
        swift_release(token.object);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[8];
    for (int index = 0; index < 8; index++) pthread_create(&threads[index], NULL, run, NULL);
    for (int index = 0; index < 8; index++) pthread_join(threads[index], NULL);
}
