// The library that 'notify-demo record' preloads into a program. It does nothing before the first record.

#include "preloaded.h"

#include <delivery_recorder.h>

const struct notification_recorder *notification_recorder(void) { return delivery_recorder(); }

__attribute__((constructor)) static void start(void) { delivery_recorder_start_if_asked(); }
