#define _GNU_SOURCE
#include "originals.h"

#include <dlfcn.h>
#include <stdlib.h>

struct swift_runtime swift;

void *original(const char *symbol) {
    void *found = dlsym(RTLD_NEXT, symbol);
    // A library that was loaded with `dlopen` for itself is not searched by RTLD_NEXT.
    static const char *const libraries[] = {"libFoundationEssentials.so", "libFoundation.so"};
    for (size_t index = 0; found == NULL && index < 2; index++) {
        void *library = dlopen(libraries[index], RTLD_LAZY | RTLD_NOLOAD);
        if (library == NULL) continue;
        found = dlsym(library, symbol);
        dlclose(library);
    }
    return found;
}

bool find_swift_runtime(void) {
    swift.allocObject = original("swift_allocObject");
    swift.deallocObject = original("swift_deallocObject");
    swift.retain = original("swift_retain");
    swift.release = original("swift_release");
    swift.getTypeName = original("swift_getTypeName");
    return swift.allocObject != NULL && swift.deallocObject != NULL && swift.retain != NULL &&
        swift.release != NULL && swift.getTypeName != NULL;
}
