#define _GNU_SOURCE
#include "recording.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/// The signals that end a process that does not handle them. The first `crash_count` report crashes; most of these come
/// from the processor, which repeats the instruction when the handler returns. A handler of SIGSYS emulates system
/// calls.
static const int signals[] = {
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE,
};
enum { crash_count = 6, signal_count = sizeof signals / sizeof *signals };

/// The actions of the signals before the handler was installed. Each is written before the handler, which reads it, is
/// installed.
static struct sigaction previous_actions[65];

static bool is_crash(int number) {
    for (int index = 0; index < crash_count; index++) {
        if (signals[index] == number) return true;
    }
    return false;
}

/// A program's handler of a request to end is left in place: the program continues, or exits. A handler of a crash,
/// such as the backtracer, is called after the recorder's. An ignored signal does not end the process.
static bool is_replaced(int number, const struct sigaction *action) {
    return action->sa_handler == SIG_DFL || (is_crash(number) && action->sa_handler != SIG_IGN);
}

static void handle(int number, siginfo_t *information, void *context) {
    (void)context;
    struct sigaction current;
    // A program's handler of a request to end, installed later, may call the previous one and continue.
    if (!is_crash(number) && sigaction(number, NULL, &current) == 0 && current.sa_sigaction != handle) return;
    bool is_sent = !information || information->si_code <= 0;
    recording_finish_in_handler("signal", number);
    sigaction(number, &previous_actions[number], NULL);
    // The processor raises these again when the handler returns. After a trap or a forbidden system call the process
    // would continue.
    bool is_repeated = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;
    if (is_sent || !is_repeated) raise(number);
}

static void watch(void) {
    atexit(recording_process_exits);
    pthread_atfork(recording_process_will_fork, recording_process_forked, recording_process_is_copy);
}

void process_end_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

static void install(void) {
    for (int index = 0; index < signal_count; index++) {
        int number = signals[index];
        struct sigaction old, new = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        if (sigaction(number, NULL, &old) != 0 || !is_replaced(number, &old)) continue;
        previous_actions[number] = old;
        // Blocks other signals until this one has ended the process.
        sigfillset(&new.sa_mask);
        if (sigaction(number, &new, &old) != 0) continue;
        // Another thread may have installed a handler in between.
        if (is_replaced(number, &old)) {
            previous_actions[number] = old;
        } else {
            sigaction(number, &old, NULL);
        }
    }
}

void process_end_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
