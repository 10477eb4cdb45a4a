#include "CEmbeddedServer.h"

#include <string.h>

/// Implemented in Swift, in DistributedNotifications. Does not return.
extern void DistributedNotificationsServe(int argc, char **argv);

void CEmbeddedServerKeep(void) {}

// glibc gives constructors what it gives main. The default priority comes after the Swift runtime's own constructor, which
// is first in the link line.
__attribute__((constructor)) static void serve(int argc, char **argv, char **environment) {
    (void)environment;
    if (argc > 0 && argv != NULL && argv[0] != NULL && strcmp(argv[0], CEmbeddedServerName) == 0)
        DistributedNotificationsServe(argc, argv);
}
