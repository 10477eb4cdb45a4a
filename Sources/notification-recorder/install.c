// Where recording begins in a process into which this library was preloaded. A process without Foundation is left alone.

#define _GNU_SOURCE
#include "install.h"

#include <pthread.h>

#include "async_handlers.h"
#include "call_sites.h"
#include "centers.h"
#include "delivery_recorder.h"
#include "executable.h"
#include "observers.h"
#include "originals.h"
#include "preloaded.h"
#include "queues.h"
#include "recording.h"

bool is_installed;

// MARK: The interface

static void (*_Atomic changed)(bool);

static void recording_changed(bool is_recording) {
    atomic_store(&is_recording_now, is_recording);
    void (*call)(bool) = atomic_load(&changed);
    if (call != NULL) call(is_recording);
}

static void watch(void (*call)(bool)) {
    atomic_store(&changed, call);
    delivery_recorder()->watch(recording_changed);
}

static void append(const struct recorder_record *record) {
    if (record->thread.name.start != NULL) name_this_thread(&record->thread);
    delivery_recorder()->append(record);
}

static void begin_queued_post(uint64_t post) { this_thread.queued_post = post; }
static void end_queued_post(void) { this_thread.queued_post = 0; }
static void begin_own_observer(void) { this_thread.is_own_observer = true; }
static void end_own_observer(void) { this_thread.is_own_observer = false; }
static uint64_t current_post(void) { return this_thread.post; }

static struct notification_recorder interface;

const struct notification_recorder *notification_recorder(void) { return &interface; }

static void compose_interface(void) {
    interface = *delivery_recorder();
    interface.append = append;
    interface.watch = watch;
    interface.next_post = new_post_number;
    interface.next_observer = new_observer_number;
    interface.thread_number = this_thread_number;
    interface.begin_queued_post = begin_queued_post;
    interface.end_queued_post = end_queued_post;
    interface.begin_own_observer = begin_own_observer;
    interface.end_own_observer = end_own_observer;
    interface.current_post = current_post;
}

// MARK: Installation

static void continue_in_copy(void) {
    unlock_observers();
    renew_this_thread();
}

/// Notes what cannot be recorded if a class of Foundation is there and not as expected.
static void replace_queue_method(struct method *method, const char *unrecorded) {
    if (original(method->metadata) != NULL && !replace_methods(method, 1)) delivery_recorder_note_unrecorded(unrecorded);
}

static void install(void) {
    if (!find_swift_runtime() || !replace_methods(center_methods, 3)) {
        delivery_recorder_note_unrecorded("notification centers: this Foundation is unknown");
        return;
    }
    is_installed = true;
    find_executable();
    pthread_atfork(lock_observers, unlock_observers, continue_in_copy);
    if (!prepare_async_handlers()) {
        delivery_recorder_note_unrecorded("handlers of asynchronous messages: this Swift runtime is unknown");
    }
    replace_queue_method(&queue_methods[0], "handlers in operation queues: this OperationQueue is unknown");
    replace_queue_method(&queue_methods[1], "notification queues: this NotificationQueue is unknown");
}

__attribute__((constructor)) static void start(void) {
    compose_interface();
    delivery_recorder_start_if_asked();
    delivery_recorder()->watch(recording_changed);
    // A program that was not asked to record may still do so itself.
    if (original(CENTER "N") != NULL) {
        install();
    } else if (is_recording() && original("swift_retain") == NULL && executable_has_swift_code()) {
        delivery_recorder_note_unrecorded(
            "notification centers: the program has its own copy of Foundation (-static-stdlib)");
    }
}
