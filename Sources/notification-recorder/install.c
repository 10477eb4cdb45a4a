#include "install.h"

#include <stdlib.h>
#include <string.h>

#include "async_handlers.h"
#include "call_sites.h"
#include "centers.h"
#include "observers.h"
#include "originals.h"
#include "queues.h"
#include "recording.h"

const struct notification_recorder *delivery_recorder(void);

bool is_installed;

static void set_recording(bool is_recording) { atomic_store(&is_recording_now, is_recording); }

static void report_unrecorded(const char *reason) {
    struct recorder_record record = {.stage = STAGE("unrecorded"), .message = {reason, strlen(reason)}};
    recorder->append(&record);
}

/// Replaces what has to be replaced. Returns null, or what cannot be recorded.
static const char *install(void) {
    if (!find_swift_runtime() || !replace_methods(center_methods, 3)) {
        return "Notification centers: this Foundation is not one that the recorder knows.";
    }
    if (!prepare_async_handlers() || !replace_methods(queue_methods, 2)) {
        // …
    }
    find_executable();
    prepare_observers_for_fork();
    is_installed = true;
    return NULL;
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("THREADED_NOTIFICATIONS_RECORDING");
    if (path == NULL || path[0] == 0) return;
    // Without Foundation there is nothing to record.
    if (original(CENTER "N") == NULL) return;
    recorder = delivery_recorder();
    if (recorder->start(path) != NULL) return;
    const char *problem = install();
    if (problem != NULL) report_unrecorded(problem);
    recorder->watch(set_recording);
}
