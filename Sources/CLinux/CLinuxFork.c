// The descriptors of a run loop in the copy of a process.

#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>

/// Returns true if a descriptor is of this kind, such as "eventfd".
static bool is_of_kind(int descriptor, const char *kind) {
    char path[32], expected[32], target[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    snprintf(expected, sizeof expected, "anon_inode:[%s]", kind);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) return false;
    target[length] = 0;
    return strcmp(target, expected) == 0;
}

/// Gives a number to another descriptor, which is closed.
static void replace_descriptor(int number, int fresh) {
    if (fresh < 0) return;
    dup3(fresh, number, O_CLOEXEC);
    close(fresh);
}

/// Replaces an eventfd or a timerfd by one of this process, in the same state. Other descriptors stay as they are.
static void separate_member(int member) {
    struct pollfd state = {member, POLLIN, 0};
    bool isReady = poll(&state, 1, 0) > 0;
    int isNonblocking = fcntl(member, F_GETFL) & O_NONBLOCK;
    if (is_of_kind(member, "eventfd")) {
        replace_descriptor(member, eventfd(isReady, EFD_CLOEXEC | (isNonblocking ? EFD_NONBLOCK : 0)));
    } else if (is_of_kind(member, "timerfd")) {
        struct itimerspec time;
        if (timerfd_gettime(member, &time) != 0) return;
        // It has expired, and nobody has read it.
        if (isReady && time.it_value.tv_sec == 0 && time.it_value.tv_nsec == 0) time.it_value.tv_nsec = 1;
        int fresh = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | (isNonblocking ? TFD_NONBLOCK : 0));
        if (fresh >= 0) timerfd_settime(fresh, 0, &time, NULL);
        replace_descriptor(member, fresh);
    }
}

enum { most_members = 512 };

/// A member of a set, as /proc lists it.
struct member {
    int number;
    struct epoll_event event;
};

/// Reads the members of a set. Returns their number; 0 if the descriptor is no set.
static int read_members(int set, struct member *members) {
    char path[40], line[256];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", set);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    int count = 0;
    while (count < most_members && fgets(line, sizeof line, file)) {
        unsigned int events;
        unsigned long long data;
        if (sscanf(line, "tfd: %d events: %x data: %llx", &members[count].number, &events, &data) != 3) continue;
        members[count].event.events = events;
        members[count].event.data.u64 = data;
        count++;
    }
    fclose(file);
    return count;
}

void CLinuxSeparateSets(int member) {
    struct member members[most_members];
    int replaced[most_members], replacedCount = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        int set = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || set == dirfd(directory) || !is_of_kind(set, "eventpoll")) continue;
        int count = read_members(set, members), found = 0;
        while (found < count && members[found].number != member) found++;
        int fresh = found < count ? epoll_create1(EPOLL_CLOEXEC) : -1;
        if (fresh < 0) continue;
        for (int index = 0; index < count; index++) {
            // The modes of a run loop have members in common.
            int known = 0;
            while (known < replacedCount && replaced[known] != members[index].number) known++;
            if (known == replacedCount && known < most_members) {
                replaced[replacedCount++] = members[index].number;
                separate_member(members[index].number);
            }
            epoll_ctl(fresh, EPOLL_CTL_ADD, members[index].number, &members[index].event);
        }
        replace_descriptor(set, fresh);
    }
    closedir(directory);
}

int CLinuxAtFork(void (*prepare)(void), void (*parent)(void), void (*copy)(void)) {
    return pthread_atfork(prepare, parent, copy);
}
