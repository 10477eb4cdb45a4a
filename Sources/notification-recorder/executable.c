#define _GNU_SOURCE
#include "recorder.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Reads a part of a file into new memory, with a zero byte at the end; null if that is not possible.
static void *read_part(int file, ElfW(Off) offset, size_t size) {
    if (size > 1 << 20) return NULL;
    char *bytes = malloc(size + 1);
    if (bytes == NULL) return NULL;
    if (pread(file, bytes, size, (off_t)offset) != (ssize_t)size) {
        free(bytes);
        return NULL;
    }
    bytes[size] = 0;
    return bytes;
}

static bool has_swift_section(int file) {
    ElfW(Ehdr) header;
    if (pread(file, &header, sizeof header, 0) != sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return false;
    }
    if (header.e_shentsize != sizeof(ElfW(Shdr)) || header.e_shstrndx >= header.e_shnum) return false;
    ElfW(Shdr) *sections = read_part(file, header.e_shoff, header.e_shnum * sizeof *sections);
    if (sections == NULL) return false;
    const size_t names_size = sections[header.e_shstrndx].sh_size;
    char *names = read_part(file, sections[header.e_shstrndx].sh_offset, names_size);
    bool is_found = false;
    for (size_t index = 0; names != NULL && index < header.e_shnum && !is_found; index++) {
        const size_t name = sections[index].sh_name;
        is_found = name < names_size && strcmp(names + name, "swift5_type_metadata") == 0;
    }
    free(names);
    free(sections);
    return is_found;
}

bool executable_has_swift_code(void) {
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool is_found = has_swift_section(file);
    close(file);
    return is_found;
}
