// Starts the running program again, as the server; and has a program that was started so be the server, before its own main.

#ifndef CEMBEDDEDSERVER_H
#define CEMBEDDEDSERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// What a program is called (argv[0]) when it is to be the server.
static const char *const CEmbeddedServerName = "notification-server";

/// What the server finds open: its socket, and what it writes a byte to when it listens.
enum CEmbeddedServerDescriptor { CEmbeddedServerListener = 3, CEmbeddedServerReadiness = 4 };

/// How starting a server ended.
struct CEmbeddedServerOutcome {
    /// 0, or the errno of what failed.
    int error;
    /// What failed, such as "pipe2"; null if nothing did.
    const char *failed;
    /// The server's process, or 0 if there is none.
    pid_t process;
    /// It listens.
    bool isReady;
    /// It was still not ready at the limit, and was ended.
    bool isLate;
    /// As waitpid tells it, if it is neither ready nor late.
    int status;
};

/// Starts the running program again as the server, and waits until it listens or has ended.
///
/// The server is no child of this process, is in a session of its own, and has nothing of it but environment, resource limits
/// and control group: directory `/`, default signals, no descriptors but 0 to 2 (`/dev/null`), 3 and 4.
/// This process gets no SIGCHLD and has no child that its own `wait` could find, except where it is process 1 or a subreaper.
/// Memory is not copied: as with vfork, the calling thread, and no other, stands still meanwhile.
///
/// - Parameters:
///   - listener: a bound socket.
///   - directory, startedBy: the server's arguments.
///   - milliseconds: the longest that this takes; a server that is not ready by then is ended.
struct CEmbeddedServerOutcome CEmbeddedServerStart(
    int listener, const char *directory, const char *startedBy, int64_t milliseconds);

/// Whether this program runs with rights that who started it does not have (setuid, setgid, file capabilities).
bool CEmbeddedServerRunsWithOthersRights(void);

#endif
