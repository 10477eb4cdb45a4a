#define _GNU_SOURCE
#include "recorder.h"

#include <dlfcn.h>
#include <link.h>

struct swift_runtime swift;

void *original(const char *symbol) { return dlsym(RTLD_NEXT, symbol); }

void *original_of_any_library(const char *symbol) {
    void *found = original(symbol);
    Dl_info info;
    struct link_map *module = NULL;
    if (found != NULL || !dladdr1((void *)original, &info, (void **)&module, RTLD_DL_LINKMAP)) return found;
    while (found == NULL && (module = module->l_next) != NULL) {
        void *library = dlopen(module->l_name, RTLD_LAZY | RTLD_NOLOAD);
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
