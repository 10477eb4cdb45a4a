#define _GNU_SOURCE
#include "line.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char process_name[16];

/// Reads a name without the newline.
static bool read_name(const char *path, char name[16]) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = read(file, name, 16);
    close(file);
    if (length <= 0) return false;
    name[length - 1] = 0;
    return true;
}

static bool has_suffix(const char *name, const char *suffix) {
    size_t length = strlen(name), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

void kernel_name_remember_process(void) {
    if (!read_name("/proc/self/comm", process_name)) process_name[0] = 0;
}

struct recorder_text kernel_name(pid_t kernel_id, char name[16]) {
    const struct recorder_text none = {NULL, 0};
    char path[64], process_now[16];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", kernel_id);
    if (kernel_id == gettid() ? prctl(PR_GET_NAME, name) != 0 : !read_name(path, name)) return none;
    // A thread that was created before the process was renamed has its old name.
    if (strcmp(name, process_name) == 0) return none;
    if (!read_name("/proc/self/comm", process_now) || strcmp(name, process_now) == 0) return none;
    // The kernel has the last bytes of com.apple.root.default-qos. Threads that such a thread creates inherit them.
    if (has_suffix(name, "-qos") || has_suffix(name, "-qos.overcommit")) return none;
    return (struct recorder_text){name, strlen(name)};
}
