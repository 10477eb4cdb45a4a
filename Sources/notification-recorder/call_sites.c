#define _GNU_SOURCE
#include "recorder.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct call_site {
    struct recorder_text at;
    struct recorder_text function;
};

static struct address_table sites;
static char executable[PATH_MAX];

void find_executable(void) { (void)!readlink("/proc/self/exe", executable, sizeof executable - 1); }

static struct recorder_text joined(const char *name, uintptr_t offset) {
    char *text;
    int length = asprintf(&text, "%s+0x%lx", name, (unsigned long)offset);
    return length > 0 ? (struct recorder_text){text, (size_t)length} : (struct recorder_text){NULL, 0};
}

/// A new description, which is never freed, because it stays in the table.
static const struct call_site *described(uintptr_t address) {
    struct call_site *site = calloc(1, sizeof *site);
    Dl_info info;
    struct link_map *module = NULL;
    if (site == NULL || !dladdr1((void *)address, &info, (void **)&module, RTLD_DL_LINKMAP)) return site;
    // The offset from the load address is what a symbolizer calls the address, also in an executable that is not
    // position-independent. The loader has no name of the executable.
    uintptr_t bias = module != NULL ? module->l_addr : (uintptr_t)info.dli_fbase;
    bool is_executable = module != NULL && module->l_name[0] == 0;
    const char *path = is_executable ? executable : info.dli_fname;
    if (path[0] != 0) site->at = joined(path, address - bias);
    if (info.dli_sname != NULL) site->function = joined(info.dli_sname, address - (uintptr_t)info.dli_saddr);
    return site;
}

const void *take_call_site(const void *return_address) {
    const void *site = this_thread.call_site;
    this_thread.call_site = NULL;
    return site != NULL ? site : return_address;
}

void describe_call(const void *return_address, struct recorder_record *record) {
    if (return_address == NULL) return;
    uintptr_t address = (uintptr_t)return_address - 1;
    const struct call_site *site = address_table_value(&sites, address);
    if (site == NULL) {
        if (address_table_is_full(&sites)) return;
        site = described(address);
        if (site == NULL) return;
        // Two threads may describe the same call; the second description is not freed, because it may be in use.
        address_table_add(&sites, address, site);
    }
    record->at = site->at;
    record->function = site->function;
}
