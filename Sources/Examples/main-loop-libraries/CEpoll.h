#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// In C, because struct epoll_event is packed, which Swift does not support.

/// Lets an epoll set wait until a descriptor can be read.
__attribute__((unused)) static inline int EpollAdd(int set, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

/// Waits, and returns a descriptor that can be read; -1 if there is none. A timeout of -1 is none.
__attribute__((unused)) static inline int EpollWait(int set, int milliseconds) {
    struct epoll_event event;
    return epoll_wait(set, &event, 1, milliseconds) == 1 ? event.data.fd : -1;
}
