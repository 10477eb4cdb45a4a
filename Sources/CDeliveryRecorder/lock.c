#define _GNU_SOURCE
#include "lock.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/// How often this thread holds the lock.
static __thread unsigned nesting __attribute__((tls_model("initial-exec")));

struct lock_holder lock_take(void) {
    struct lock_holder holder = {.error = errno};
    sigset_t all;
    sigfillset(&all);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &holder.cancelability);
    pthread_sigmask(SIG_SETMASK, &all, &holder.signals);
    if (nesting++ == 0) pthread_mutex_lock(&mutex);
    return holder;
}

void lock_release(const struct lock_holder *holder) {
    // The holder may be a variable that the lock guards.
    struct lock_holder own = *holder;
    if (--nesting == 0) pthread_mutex_unlock(&mutex);
    pthread_sigmask(SIG_SETMASK, &own.signals, NULL);
    pthread_setcancelstate(own.cancelability, NULL);
    errno = own.error;
}

void lock_renew(void) {
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (nesting > 0) pthread_mutex_lock(&mutex);
}
