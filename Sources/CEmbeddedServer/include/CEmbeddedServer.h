// Starts the running program again, as the server; and has a program that was started so be the server, before its own main.

#ifndef CEMBEDDEDSERVER_H
#define CEMBEDDEDSERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// The name (argv[0]) of a copy of a program that is the server.
static const char *const CEmbeddedServerName = "notification-server";

/// The number of arguments of a copy: its name, the place's directory, the process that started it, and `pipe:[N]`, the
/// pipe that it has as `CEmbeddedServerReadiness`. A program that only has the same name has no such pipe, and its main
/// runs.
enum { CEmbeddedServerArguments = 4 };

/// The open files of the server: its socket, and the pipe to which it writes `CEmbeddedServerReady` when it listens. If
/// it ends instead, it writes why, as the rest of the sentence "PROGRAM, started as the server, …".
enum CEmbeddedServerDescriptor { CEmbeddedServerListener = 3, CEmbeddedServerReadiness = 4 };

enum { CEmbeddedServerReady = '1' };

/// The status with which a copy ends that has rights that its user does not have (EX_NOPERM).
enum { CEmbeddedServerHasOthersRights = 77 };

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
    /// The text that it wrote instead of `CEmbeddedServerReady`, or empty.
    char said[256];
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

/// Whether a copy of the running program runs this code before its main: the program, or a library that it links,
/// contains it. A program that loads it with dlopen must not be started as the server, because its copy would run main.
bool CEmbeddedServerIsLinked(void);

#endif
