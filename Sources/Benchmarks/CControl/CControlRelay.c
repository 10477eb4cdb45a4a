#define _GNU_SOURCE
#include "CControlTally.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct CControlRelay {
    pthread_t thread;
    int source, poll, count;
    int targets[];
};

static void closeRelay(CControlRelay *relay) {
    for (int index = 0; index < relay->count; index++) close(relay->targets[index]);
    close(relay->source);
    if (relay->poll >= 0) close(relay->poll);
    free(relay);
}

static void *relayMain(void *context) {
    CControlRelay *relay = context;
    // 64 frames of 200 bytes: the number that the server reads in one turn.
    char bytes[64 * 200];
    while (true) {
        struct epoll_event event;
        if (epoll_wait(relay->poll, &event, 1, -1) < 0 && errno != EINTR) return NULL;
        ssize_t count = recv(relay->source, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return NULL;
        for (int index = 0; count > 0 && index < relay->count; index++) {
            for (ssize_t written = 0; written < count;) {
                ssize_t more = send(relay->targets[index], bytes + written, (size_t)(count - written), MSG_NOSIGNAL);
                if (more < 0 && errno != EINTR) return NULL;
                if (more > 0) written += more;
            }
        }
    }
}

CControlRelay *CControlRelayCreate(int source, const int *targets, int count, int core) {
    CControlRelay *relay = malloc(sizeof *relay + (size_t)count * sizeof(int));
    if (relay == NULL) {
        for (int index = 0; index < count; index++) close(targets[index]);
        close(source);
        errno = ENOMEM;
        return NULL;
    }
    relay->source = source;
    relay->count = count;
    memcpy(relay->targets, targets, (size_t)count * sizeof(int));
    relay->poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    pthread_attr_t attributes;
    int error = relay->poll < 0 || epoll_ctl(relay->poll, EPOLL_CTL_ADD, source, &event) != 0 ? errno : 0;
    if (error == 0) error = pthread_attr_init(&attributes);
    if (error == 0) {
        if (core >= 0) {
            cpu_set_t cores;
            CPU_ZERO(&cores);
            if (core < CPU_SETSIZE) CPU_SET(core, &cores);
            error = pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
        }
        if (error == 0) error = pthread_create(&relay->thread, &attributes, relayMain, relay);
        pthread_attr_destroy(&attributes);
    }
    if (error == 0) return relay;
    closeRelay(relay);
    errno = error;
    return NULL;
}

void CControlRelayDestroy(CControlRelay *relay) {
    // A write or read that waits then returns with an error.
    for (int index = 0; index < relay->count; index++) shutdown(relay->targets[index], SHUT_RDWR);
    shutdown(relay->source, SHUT_RDWR);
    pthread_join(relay->thread, NULL);
    closeRelay(relay);
}

int64_t CControlProcessTime(int32_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int CControlListen(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, SOMAXCONN) == 0)
        return listener;
    int error = errno;
    close(listener);
    errno = error;
    return -1;
}

int CControlSpawn(int32_t *process, int *input, const char *path, char *const *arguments, int shared) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    // Copies, because either descriptor may have a number that the program's descriptors get.
    int inputCopy = fcntl(ends[0], F_DUPFD_CLOEXEC, 4), sharedCopy = fcntl(shared, F_DUPFD_CLOEXEC, 4);
    int error = inputCopy < 0 || sharedCopy < 0 ? errno : 0;
    posix_spawn_file_actions_t actions;
    if (error == 0 && (error = posix_spawn_file_actions_init(&actions)) == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, inputCopy, 0);
        if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, sharedCopy, 3);
        if (error == 0) error = posix_spawn(process, path, &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (inputCopy >= 0) close(inputCopy);
    if (sharedCopy >= 0) close(sharedCopy);
    close(ends[0]);
    if (error == 0) *input = ends[1];
    else close(ends[1]);
    return error;
}
