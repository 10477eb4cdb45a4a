// Unix sockets, their files, and programs that are started: the parts of glibc that Swift's Glibc module lacks
// (accept4, struct ucred), or shows in a form that needs unsafe casts (struct sockaddr_un). Included by CLinux.h.

#ifndef CLINUXSOCKET_H
#define CLINUXSOCKET_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

extern long syscall(long number, ...);
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

/// The longest path of a socket, in bytes.
static inline int CLinuxLongestSocketPath(void) { return sizeof(((struct sockaddr_un *)0)->sun_path) - 1; }

/// Creates a Unix stream socket that exec closes.
static inline int CLinuxMakeLocalSocket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

/// Binds a socket to a path. The file has mode 0600 from the start, because the kernel gives it the mode of the
/// socket's inode. The umask belongs to all threads, so it is not changed.
static inline int CLinuxBind(int descriptor, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (fchmod(descriptor, 0600) != 0) return -1;
    return bind(descriptor, (const struct sockaddr *)&address, sizeof address);
}

/// Connects to the socket at a path. Fails with EAGAIN if its queue of connections is full for `microseconds`.
static inline int CLinuxConnect(int descriptor, const char *path, int64_t microseconds) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    // 0 would mean no timeout.
    if (microseconds < 1) microseconds = 1;
    struct timeval limit = {microseconds / 1000000, microseconds % 1000000}, none = {0, 0};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int result = connect(descriptor, (const struct sockaddr *)&address, sizeof address);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    return result;
}

/// Accepts a connection. The socket does not block, and exec closes it.
static inline int CLinuxAccept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

/// The process and user at the other end: for a client, from the time of connect; for a server, from its last call of
/// listen.
static inline bool CLinuxPeer(int descriptor, int32_t *process, uint32_t *user) {
    // struct ucred, which glibc shows with _GNU_SOURCE only.
    struct { int32_t process; uint32_t user; uint32_t group; } peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
    *process = peer.process;
    *user = peer.user;
    return true;
}

/// Returns true if a descriptor is a Unix stream socket. Sets `listens`, and `path`, which is empty if it has none.
static inline bool CLinuxIsLocalSocket(int descriptor, bool *listens, char path[static 109]) {
    int type = 0, accepts = 0;
    socklen_t length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return false;
    length = sizeof accepts;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length) != 0) return false;
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return false;
    if (address.sun_family != AF_UNIX) return false;
    *listens = accepts != 0;
    memcpy(path, address.sun_path, sizeof address.sun_path);
    path[108] = 0;
    return true;
}

/// The attributes of a file; of a symbolic link, those of the link.
struct CLinuxFile {
    bool isDirectory, isSocket;
    uint32_t owner, group, permissions;
    uint64_t device, number;
    int64_t size;
};

static inline struct CLinuxFile CLinuxFileOfStatus(const struct stat *status) {
    return (struct CLinuxFile){
        S_ISDIR(status->st_mode), S_ISSOCK(status->st_mode),
        status->st_uid, status->st_gid, status->st_mode & 07777, status->st_dev, status->st_ino, status->st_size};
}

/// Returns false, with errno, if the file does not exist or cannot be examined.
static inline bool CLinuxFileAtPath(const char *path, struct CLinuxFile *file) {
    struct stat status;
    if (lstat(path, &status) != 0) return false;
    *file = CLinuxFileOfStatus(&status);
    return true;
}

/// As `CLinuxFileAtPath`, but follows links.
static inline bool CLinuxFileBehindPath(const char *path, struct CLinuxFile *file) {
    struct stat status;
    if (stat(path, &status) != 0) return false;
    *file = CLinuxFileOfStatus(&status);
    return true;
}

/// Changes the effective user of the calling thread only; requires root. The function of glibc would change all
/// threads.
static inline bool CLinuxActAs(uint32_t user) { return syscall(SYS_setresuid, -1, user, -1) == 0; }

/// Creates a pipe that exec closes: `ends[0]` is read and `ends[1]` is written. Returns -1, with errno, if there is no
/// descriptor left. pipe2 is shown with _GNU_SOURCE only.
static inline int CLinuxMakePipe(int32_t ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

/// POSIX_SPAWN_SETSID, which is shown with _GNU_SOURCE only: the program runs in a session of its own.
enum { CLinuxSpawnInNewSession = 0x80 };

extern int CLinuxAddCloseFrom(void *actions, int first)
    __asm__("posix_spawn_file_actions_addclosefrom_np") __attribute__((weak));

/// Adds an action to a `posix_spawn_file_actions_t` that closes all descriptors from `first` on. Before glibc 2.34 this
/// is not possible, and the program inherits the descriptors that exec does not close. Returns 0, or an errno.
static inline int CLinuxSpawnClosingFrom(void *actions, int first) {
    return CLinuxAddCloseFrom ? CLinuxAddCloseFrom(actions, first) : 0;
}

/// The environment as it is now, for a program that is started.
static inline char **CLinuxCurrentEnvironment(void) {
    extern char **environ;
    return environ;
}

/// fork, which Swift does not show because the copy has only the calling thread. Call it while there is no other.
static inline pid_t CLinuxFork(void) { return fork(); }

#endif
