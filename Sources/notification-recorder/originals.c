#define _GNU_SOURCE
#include "originals.h"

#include <dlfcn.h>
#include <stdlib.h>

struct swift_runtime swift;

bool find_swift_runtime(void) {
    swift.allocObject = dlsym(RTLD_DEFAULT, "swift_allocObject");
    swift.deallocObject = dlsym(RTLD_DEFAULT, "swift_deallocObject");
    swift.retain = dlsym(RTLD_DEFAULT, "swift_retain");
    swift.release = dlsym(RTLD_DEFAULT, "swift_release");
    swift.getTypeName = dlsym(RTLD_DEFAULT, "swift_getTypeName");
    return swift.allocObject != NULL && swift.deallocObject != NULL && swift.retain != NULL &&
        swift.release != NULL && swift.getTypeName != NULL;
}

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
