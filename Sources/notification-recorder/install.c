// Installs the recorder in a process into which this library was preloaded. A process without Foundation is left alone.

#define _GNU_SOURCE
#include "recorder.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "delivery_recorder.h"
#include "preloaded.h"

bool is_installed;

// MARK: The interface

static atomic_bool is_process_recorded;
static void (*_Atomic changed)(bool);

static void recording_changed(bool is_recorded) {
    atomic_store(&is_process_recorded, is_recorded);
    atomic_store(&is_recording_now, is_recorded && is_installed);
    void (*call)(bool) = atomic_load(&changed);
    if (call != NULL) call(is_recorded);
}

static void watch(void (*call)(bool)) {
    atomic_store(&changed, call);
    delivery_recorder()->watch(recording_changed);
}

static void append(const struct recorder_record *record) {
    if (record->thread.name.start != NULL) name_this_thread(&record->thread);
    if (!this_thread.is_in_pool) {
        delivery_recorder()->append(record);
        return;
    }
    struct recorder_record marked = *record;
    marked.thread.pool = true;
    delivery_recorder()->append(&marked);
}

static void begin_queued_post(uint64_t post) { this_thread.queued_post = post; }
static void end_queued_post(void) { this_thread.queued_post = 0; }
static void begin_own_observer(void) { this_thread.is_own_observer = true; }
static void end_own_observer(void) { this_thread.is_own_observer = false; }
static uint64_t current_post(void) { return this_thread.post; }

static struct notification_recorder interface;

const struct notification_recorder *threaded_notifications_recorder(void) { return &interface; }

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

static bool has_size(const char *type, size_t size) {
    const void *metadata = original(type);
    return metadata != NULL && swift_size(metadata) == size;
}

static bool replace_center_methods(void) {
    return find_swift_runtime() && has_size(CENTER "01_C13ObserverTokenVN", sizeof(struct swift_observer_key)) &&
        replace_methods(center_methods, 3);
}

/// A program that links only FoundationEssentials has no queues.
static bool has_queues(void) { return original(OPERATION_QUEUE "N") != NULL; }

static void install(void) {
    if (!replace_center_methods()) {
        delivery_recorder_note_unrecorded("notification centers: this Foundation is unknown");
        return;
    }
    is_installed = true;
    find_executable();
    pthread_atfork(NULL, NULL, renew_this_thread);
    if (!prepare_async_handlers()) {
        delivery_recorder_note_unrecorded("handlers of asynchronous messages: this Swift runtime is unknown");
    }
    if (!has_queues()) return;
    if (!replace_methods(&queue_methods[0], 1)) {
        delivery_recorder_note_unrecorded("handlers in operation queues: this OperationQueue is unknown");
    }
    if (!has_size("$s10Foundation12NotificationVN", sizeof(struct swift_notification)) ||
        !replace_methods(&queue_methods[1], 1)) {
        delivery_recorder_note_unrecorded("notification queues: this NotificationQueue is unknown");
    }
}

// MARK: Foundation that a program loads later

static bool had_foundation;

void note_late_foundation(void) {
    static atomic_bool is_noted;
    if (had_foundation || !atomic_load(&is_process_recorded) || atomic_exchange(&is_noted, true)) return;
    delivery_recorder_note_unrecorded("notification centers: the program loaded Foundation after it began (dlopen)");
}

static int is_foundation(struct dl_phdr_info *module, size_t size, void *context) {
    (void)size;
    (void)context;
    return strstr(module->dlpi_name, "/libFoundationEssentials.so") != NULL;
}

static void look_for_late_foundation(void) {
    if (dl_iterate_phdr(is_foundation, NULL)) note_late_foundation();
}

__attribute__((constructor)) static void start(void) {
    compose_interface();
    delivery_recorder_start_if_asked();
    delivery_recorder()->watch(recording_changed);
    // A program that was not asked to record may still do so itself.
    prepare_threads();
    had_foundation = original(CENTER "N") != NULL;
    if (had_foundation) {
        install();
        delivery_recorder()->watch(recording_changed);
    } else if (atomic_load(&is_process_recorded)) {
        // Runs before the recording ends.
        atexit(look_for_late_foundation);
        if (original("swift_retain") == NULL && executable_has_swift_code()) {
            delivery_recorder_note_unrecorded(
                "notification centers: the program has its own copy of Foundation (-static-stdlib)");
        }
    }
}
