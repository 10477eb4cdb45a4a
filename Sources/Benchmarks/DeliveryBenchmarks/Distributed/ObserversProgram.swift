internal import CControl
internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The program of the process that holds a benchmark's observers. They count in memory that the posting process shares.
package enum ObserversProgram {
    /// The first argument of the process that holds the observers.
    package static let subcommand = "observers-child"

    package enum Kind: String, CaseIterable, Sendable {
        /// Connections to a relay, which read and do not register.
        case plain
        /// Connections that register an observer and count frames.
        case wire
        /// Centers with handlers that their reading threads call.
        case center
        /// Centers with handlers that are all called on one other thread.
        case thread
    }

    /// Observes until standard input ends. It also ends when the parent process ends.
    ///
    /// - Parameters:
    ///   - path: the server's directory; for `plain`, the socket's path.
    ///   - core: the core to run on; nil: any core.
    package static func perform(_ kind: Kind, path: String, core: Int?) throws {
        let parent = getppid()
        // Ctrl-C also reaches this process, but the parent decides when it ends.
        signal(SIGINT, SIG_IGN)
        defer {
            // The parent is gone and cannot remove its directory. The server ends by itself.
            if getppid() != parent { try? FileManager.default.removeItem(atPath: directory(path, of: kind)) }
        }
        if let core { try ProcessorCores.pinCurrentThread(to: [core]) }
        guard let tally = CControlTallyMap(tallyDescriptor) else {
            throw BenchmarkError.notMade("what bench shares with this process, which only bench starts,", code: errno)
        }
        // Safety: the counters are atomic, and the memory stays mapped until the process ends.
        nonisolated(unsafe) let counts = tally
        let count = Int(CControlTallyObservers(tally))
        switch kind {
        case .plain:
            observe(try WireObservers(count, path: path, timeout: timeout), tally)
        case .wire:
            let directory = ServerDirectory(path: path)
            observe(
                try WireObservers.registered(
                    count, name: DistributedPoster.name.rawValue, at: directory, timeout: timeout),
                tally)
        case .center, .thread:
            let thread = kind == .thread ? RunLoopThread(name: "observers") : nil
            try thread?.start()
            var kept: [Any] = []
            for number in 0..<count {
                let center = try DistributedCenter(directory: ServerDirectory(path: path))
                let handler: @Sendable (DistributedNotification) -> Void = { _ in
                    CControlTallyHandle(counts, Int32(number), 1)
                }
                let token =
                    if let thread {
                        try center.addObserver(forName: DistributedPoster.name, on: thread, using: handler)
                    } else {
                        try center.addObserver(forName: DistributedPoster.name, on: .postingThread, using: handler)
                    }
                let gaps = center.addConnectionObserver(on: .postingThread) { event in
                    if case .gap(let gap) = event { CControlTallyMiss(counts, Int32(number), UInt64(gap.count)) }
                }
                try center.synchronize(timeout: timeout)
                kept += [center, token, gaps]
            }
            CControlTallySetReady(tally)
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) < 0, errno == EINTR {}
            withExtendedLifetime(kept) {}
        }
    }

    private static func directory(_ path: String, of kind: Kind) -> String {
        kind == .plain ? URL(filePath: path).deletingLastPathComponent().path : path
    }

    private static let tallyDescriptor: Int32 = 3
    private static let timeout = Duration.seconds(5)

    private static func observe(_ observers: WireObservers, _ tally: OpaquePointer) {
        CControlTallySetReady(tally)
        observers.count(until: STDIN_FILENO) { observer, count, missed in
            if missed > 0 { CControlTallyMiss(tally, Int32(observer), UInt64(missed)) }
            if count > 0 { CControlTallyHandle(tally, Int32(observer), UInt64(count)) }
        }
    }
}
