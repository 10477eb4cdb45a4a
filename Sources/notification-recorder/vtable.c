#define _GNU_SOURCE
#include "recorder.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/// Finds a method by comparing the words of the metadata with the method's address.
static bool find_method(struct method *method) {
    void **class = original(method->metadata);
    method->original = original(method->symbol);
    if (class == NULL || method->original == NULL) return false;
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    // The symbol tells the size of the metadata.
    if (!dladdr1(class, &info, (void **)&symbol, RTLD_DL_SYMENT) || symbol == NULL || info.dli_saddr != class) {
        return false;
    }
    size_t found = 0;
    for (void **slot = class; slot < class + symbol->st_size / sizeof *slot; slot++) {
        // The replacement is there if the library was linked so that its symbols can be interposed.
        if (*slot != method->original && *slot != method->replacement) continue;
        method->slot = slot;
        found++;
    }
    return found == 1;
}

struct page_query {
    uintptr_t address;
    bool is_writable;
};

/// Reads in the program headers of a module whether an address in it is writable.
static int query_module(struct dl_phdr_info *module, size_t size, void *context) {
    (void)size;
    struct page_query *query = context;
    bool is_loaded_writable = false, is_protected = false;
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[index];
        if (query->address - (module->dlpi_addr + header->p_vaddr) >= header->p_memsz) continue;
        if (header->p_type == PT_LOAD && header->p_flags & PF_W) is_loaded_writable = true;
        if (header->p_type == PT_GNU_RELRO) is_protected = true;
    }
    query->is_writable |= is_loaded_writable && !is_protected;
    return 0;
}

static bool store(void **slot, const void *value) {
    struct page_query query = {(uintptr_t)slot, false};
    dl_iterate_phdr(query_module, &query);
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(page_size - 1));
    if (!query.is_writable && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
    __atomic_store_n(slot, (void *)value, __ATOMIC_RELEASE);
    if (!query.is_writable) mprotect(page, page_size, PROT_READ);
    return true;
}

bool replace_methods(struct method *methods, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (!find_method(&methods[index])) return false;
    }
    for (size_t index = 0; index < count; index++) {
        if (store(methods[index].slot, methods[index].replacement)) continue;
        while (index-- > 0) store(methods[index].slot, methods[index].original);
        return false;
    }
    return true;
}
