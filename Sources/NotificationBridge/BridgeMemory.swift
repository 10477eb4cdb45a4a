internal import DistributedNotifications
internal import Foundation
internal import Glibc

/// The state that a bridge keeps when it ends: its number, and how far it has read each stream. A bridge that is killed
/// before the last write posts some notifications twice, which their observers notice.
struct BridgeMemory {
    private struct Contents: Codable {
        /// Chosen at random by the first bridge with this file.
        var bridge = UInt64.random(in: .min ... .max)
        var positions: [String: StreamPosition] = [:]
    }

    private var contents = Contents()
    private let path: String
    /// Open, and so locked, until this process ends: two bridges with one number would ignore what the other publishes.
    private let lock: FileHandle

    var bridge: UInt64 { contents.bridge }

    /// - Throws: `.pathNotUsable`, also if another bridge has this directory.
    init(directory: String) throws(DistributedError) {
        path = "\(directory)/state"
        let lockPath = "\(directory)/lock"
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .pathNotUsable(path: directory, problem: "it cannot be created: \(Self.text(error))")
        }
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .pathNotUsable(path: lockPath, problem: "it cannot be opened: \(SystemError.text(errno))")
        }
        lock = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .pathNotUsable(
                path: lockPath,
                problem: "another bridge has locked it, and only one may be. End that one (fuser \(lockPath)), or give "
                    + "another directory: --state")
        }
        if !FileManager.default.fileExists(atPath: path) {
            try write(Contents())
            return
        }
        do {
            contents = try JSONDecoder().decode(Contents.self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw .pathNotUsable(
                path: path,
                problem: "it is not the state of a bridge. Remove it, and this bridge begins as a new one: \(error)")
        }
    }

    /// Of the last message of a stream that was posted; nil if it never read that stream.
    func position(in stream: String) -> StreamPosition? { contents.positions[stream] }

    mutating func setPosition(_ position: StreamPosition, in stream: String) throws(DistributedError) {
        var next = contents
        next.positions[stream] = position
        try write(next)
    }

    /// Without a final full stop.
    private static func text(_ error: any Error) -> String {
        error.localizedDescription.trimmingCharacters(in: ["."])
    }

    private mutating func write(_ contents: Contents) throws(DistributedError) {
        do {
            try JSONEncoder().encode(contents).write(to: URL(filePath: path), options: .atomic)
            self.contents = contents
        } catch {
            throw .pathNotUsable(
                path: path, problem: "the bridge cannot keep its state there: \(Self.text(error))")
        }
    }
}
