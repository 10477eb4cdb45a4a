internal import CControl
internal import DistributedNotifications
internal import Foundation
internal import Glibc

/// What posts to the observers of other processes.
protocol DistributedPoster {
    /// A new directory for the socket that the observers connect to. It is removed at the end.
    var directory: ServerDirectory { get }

    /// Called when so many observers are connected.
    func start(observers: Int) throws
    func post() throws
    /// Called after the observers have ended, or if they were not made.
    func end()
}

/// Starts a server, and posts with a center.
final class ServerPoster: DistributedPoster {
    static let name = Notification.Name("benchmark")
    /// Chosen so that the frame of a delivered notification has `WireObservers.frameSize` bytes.
    private static let userInfo: [String: PropertyListValue] = ["text": .string(String(repeating: "x", count: 162))]

    let directory: ServerDirectory
    private let center: DistributedCenter

    init(_ conditions: BenchmarkConditions) throws {
        directory = try .temporary()
        do {
            center = try DistributedCenter(directory: directory)
            try center.synchronize(timeout: conditions.timeout)
        } catch {
            directory.remove()
            throw error
        }
    }

    func start(observers: Int) {}

    func post() throws {
        try center.post(name: Self.name, userInfo: Self.userInfo)
    }

    func end() {
        let state = center.connectionState
        center.close()
        if case .connected(let server) = state, server > 0 {
            ProcessorTimes.addOwn(process: server)
            kill(server, SIGTERM)
        }
        directory.remove()
    }
}

/// The baseline without a server: this thread writes frames, and another one relays them.
final class RelayPoster: DistributedPoster {
    let directory: ServerDirectory
    private let listener: LocalSocket
    private let core: Int?
    private var source: LocalSocket?
    /// A frame as a server delivers it; its content has no effect on the measurement.
    private let frame = [UInt8](repeating: 0, count: WireObservers.frameSize)

    init(_ conditions: BenchmarkConditions) throws {
        directory = try .temporary()
        core = conditions.targetCore
        do {
            listener = try LocalSocket.bound(at: directory.socketPath)
            guard listener.listen() else { throw BenchmarkError.notMade("a socket", code: errno) }
        } catch {
            directory.remove()
            throw error
        }
    }

    func start(observers: Int) throws {
        let readers = (0..<observers).compactMap { _ in listener.accept() }
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard readers.count == observers, socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw BenchmarkError.notMade("the control's sockets", code: errno)
        }
        source = LocalSocket(owning: ends[0])
        let input = LocalSocket(owning: ends[1])
        Thread.detachNewThread { [core] in
            ProcessorCores.pinBenchmarkThread(to: core)
            let targets = readers.map(\.descriptor)
            // The relay makes no system calls but reads and writes, so its sockets block.
            for target in targets { _ = fcntl(target, F_SETFL, 0) }
            CControlRelay(input.descriptor, targets, Int32(targets.count))
        }
    }

    func post() throws {
        let count = send(source?.descriptor ?? -1, frame, frame.count, Int32(MSG_NOSIGNAL))
        guard count == frame.count else { throw BenchmarkError.notMade("a whole write", code: errno) }
    }

    func end() {
        // The relay then ends, and closes its sockets.
        source = nil
        directory.remove()
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
