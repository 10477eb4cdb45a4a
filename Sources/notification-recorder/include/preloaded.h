#ifndef NOTIFICATION_RECORDER_PRELOADED_H
#define NOTIFICATION_RECORDER_PRELOADED_H

#include <notification_recorder.h>

/// The recorder of the process into which the library was preloaded.
__attribute__((visibility("default"))) const struct notification_recorder *threaded_notifications_recorder(void);

#endif
