internal import CLinux
internal import Glibc

/// Checks and creates the directory of the server.
enum PrivateDirectory {
    /// - Returns: whether it exists. If it does, it can be used.
    /// - Throws: `DistributedError.pathNotUsable` if it, or its path, cannot be used.
    static func exists(at path: String) throws(DistributedError) -> Bool {
        try checkPath(path)
        let descriptor = CLinuxOpenDirectory(path)
        if descriptor < 0 {
            let error = errno
            if error == ENOENT { return false }
            throw .pathNotUsable(path: path, problem: openProblem(path, error))
        }
        defer { close(descriptor) }
        var file = CLinuxFile()
        guard CLinuxFileOfDescriptor(descriptor, &file) else {
            throw .pathNotUsable(path: path, problem: "\(SystemError.text(errno))")
        }
        let user = geteuid()
        if file.owner != user {
            throw .pathNotUsable(
                path: path,
                problem: "it belongs to user \(file.owner), and this process runs as user \(user). "
                    + "Use another directory")
        }
        if file.permissions & 0o077 != 0 {
            throw .pathNotUsable(
                path: path,
                problem: "others may look into it (mode \(String(file.permissions, radix: 8))). "
                    + "If nobody else's files are in it, close it with: chmod 700 \(path)")
        }
        // As the effective user, and of a file system that is read-only too.
        if faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0 {
            let error = errno
            throw .pathNotUsable(
                path: path,
                problem: error == EROFS
                    ? "its file system is read-only. Use another directory"
                    : "it cannot be written to (\(SystemError.text(error))). Open it to yourself with: chmod 700 "
                        + "\(path)")
        }
        return true
    }

    /// Creates the directory. Succeeds if another process has just created it.
    /// - Throws: `DistributedError.pathNotUsable`.
    static func make(at path: String) throws(DistributedError) {
        try checkPath(path)
        guard mkdir(path, 0o700) != 0 else { return }
        let error = errno
        let above = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "/"
        switch error {
        case EEXIST: return
        case ENOENT:
            throw .pathNotUsable(
                path: path,
                problem: "the directory above it, \(above), is not there. Make that, or use another directory")
        case ENOTDIR:
            throw .pathNotUsable(path: path, problem: "\(above) is no directory. Use another")
        case EACCES, EPERM:
            throw .pathNotUsable(
                path: path,
                problem: "it is not there, and this process may not make it in \(above). Use another directory")
        case EROFS:
            throw .pathNotUsable(
                path: path, problem: "it is not there, and its file system is read-only. Use another directory")
        default:
            throw .pathNotUsable(path: path, problem: "it could not be made: \(SystemError.text(error))")
        }
    }

    private static func checkPath(_ path: String) throws(DistributedError) {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw .pathNotUsable(
                path: path.isEmpty ? "\"\"" : path,
                problem: "it is no path from / on. Give the whole path of a directory")
        }
        // With it a link would be followed.
        if path.utf8.last == UInt8(ascii: "/") {
            throw .pathNotUsable(path: path, problem: "it ends in a slash. Leave that away")
        }
        let length = "\(path)/socket".utf8.count
        if length > CLinuxLongestSocketPath() {
            throw .pathNotUsable(
                path: path,
                problem: "the socket's path in it would have \(length) bytes, and the system allows "
                    + "\(CLinuxLongestSocketPath()). Use a directory with a shorter path")
        }
    }

    private static func openProblem(_ path: String, _ error: Int32) -> String {
        var file = CLinuxFile()
        guard error == ENOTDIR || error == ELOOP, CLinuxFileAtPath(path, &file) else {
            return error == ENOTDIR
                ? "one of the directories above it is no directory. Use another" : SystemError.text(error)
        }
        return file.isLink
            ? "it is a link, and links are not followed. Give the path of the directory itself"
            : "it is no directory. Remove it, or use another"
    }
}
