internal import CControl
internal import DistributedNotifications
internal import Foundation
internal import Glibc

/// The posting side of a distributed workload.
struct DistributedPoster {
    static let name = Notification.Name("benchmark")
    /// Chosen so that the frame of a delivered notification has `WireObservers.frameSize` bytes.
    private static let userInfo: [String: PropertyListValue] = ["text": .string(String(repeating: "x", count: 162))]

    /// A new directory for the socket that the observers connect to. It is removed at the end.
    var directory: ServerDirectory
    /// Called when so many observers are connected.
    var start: (_ observers: Int) throws -> Void = { _ in }
    var post: () throws -> Void
    /// Called after the observers have ended, or if they were not made.
    var end: () -> Void

    /// Starts a server, and posts with a center.
    static func throughServer(_ conditions: BenchmarkConditions) throws -> DistributedPoster {
        let directory = try ServerDirectory.temporary()
        do {
            let center = try DistributedCenter(directory: directory)
            try center.synchronize(timeout: conditions.timeout)
            return DistributedPoster(directory: directory) {
                try center.post(name: name, userInfo: userInfo)
            } end: {
                let server = center.serverProcess
                center.close()
                if let server { kill(server, SIGTERM) }
                directory.remove()
            }
        } catch {
            directory.remove()
            throw error
        }
    }

    /// The baseline without a server: this thread writes frames, and another one relays them.
    static func throughRelay() throws -> DistributedPoster {
        let directory = try ServerDirectory.temporary()
        let listener: LocalSocket
        do {
            listener = try LocalSocket.bound(at: directory.socketPath)
            guard listener.listen() else { throw BenchmarkError.notMade("a socket", code: errno) }
        } catch {
            directory.remove()
            throw error
        }
        var source: LocalSocket?
        // Its content has no effect on the measurement.
        let frame = [UInt8](repeating: 0, count: WireObservers.frameSize)
        return DistributedPoster(directory: directory) { observers in
            source = try relay(to: (0..<observers).compactMap { _ in listener.accept() })
        } post: {
            let count = send(source?.descriptor ?? -1, frame, frame.count, Int32(MSG_NOSIGNAL))
            guard count == frame.count else { throw BenchmarkError.notMade("a whole write", code: errno) }
        } end: {
            // The relay then ends, and closes its sockets.
            source = nil
            directory.remove()
        }
    }

    /// Starts the relay's thread, and returns the socket whose input it relays.
    private static func relay(to readers: [LocalSocket]) throws -> LocalSocket {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw BenchmarkError.notMade("the control's sockets", code: errno)
        }
        let input = LocalSocket(owning: ends[1])
        Thread.detachNewThread {
            let targets = readers.map(\.descriptor)
            // The relay makes no system calls but reads and writes, so its sockets block.
            for target in targets { _ = fcntl(target, F_SETFL, 0) }
            CControlRelay(input.descriptor, targets, Int32(targets.count))
        }
        return LocalSocket(owning: ends[0])
    }
}

extension ServerDirectory {
    fileprivate static func temporary() throws(BenchmarkError) -> ServerDirectory {
        var template = Array("/tmp/notify-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .notMade("a directory in /tmp", code: errno) }
        return ServerDirectory(
            path: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
