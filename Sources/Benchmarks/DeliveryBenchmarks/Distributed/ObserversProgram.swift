internal import CControl
internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The process in which a benchmark's observers are: they count what they handle in memory that the poster sees, too.
package enum ObserversProgram {
    /// The first argument of the process that holds the observers.
    package static let subcommand = "observers-child"

    package enum Kind: String, CaseIterable, Sendable {
        /// Connections that are read from and not registered: of a relay.
        case plain
        /// Connections that register an observer and count frames.
        case wire
        /// Whole centers, their handlers called by the threads that read.
        case center
        /// Whole centers, all their handlers called on one other thread.
        case thread
    }

    /// Observes until standard input ends, as it does when the process that started this one has gone.
    ///
    /// - Parameters:
    ///   - path: a server's place; of `plain` the socket's path.
    ///   - core: where it runs; nil: anywhere.
    package static func perform(_ kind: Kind, path: String, core: Int?) throws {
        let parent = getppid()
        // Who has started this process has it end, also when Ctrl-C ends that one.
        signal(SIGINT, SIG_IGN)
        defer {
            // Then nobody else removes what it has made. The server ends by itself.
            if getppid() != parent { try? FileManager.default.removeItem(atPath: directory(path, of: kind)) }
        }
        if let core { try ProcessorCores.pinCurrentThread(to: [core]) }
        guard let tally = CControlTallyMap(tallyDescriptor) else {
            throw BenchmarkError.notMade("what bench shares with this process, which only bench starts,", code: errno)
        }
        // Safety: its counts are atomic, and it lasts as long as the process.
        nonisolated(unsafe) let counts = tally
        let count = Int(CControlTallyObservers(tally))
        switch kind {
        case .plain:
            observe(try WireObservers(count, path: path, limit: limit), tally)
        case .wire:
            let place = ServerPlace(directory: path)
            observe(
                try WireObservers.registered(count, name: DistributedPoster.name.rawValue, at: place, limit: limit),
                tally)
        case .center, .thread:
            let thread = kind == .thread ? RunLoopThread(name: "observers") : nil
            try thread?.start()
            var kept: [Any] = []
            for number in 0..<count {
                let center = try DistributedCenter(place: ServerPlace(directory: path))
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
                try center.synchronize(timeout: limit)
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
    private static let limit = Duration.seconds(5)

    private static func observe(_ observers: WireObservers, _ tally: OpaquePointer) {
        CControlTallySetReady(tally)
        observers.count(until: STDIN_FILENO) { observer, count, missed in
            if missed > 0 { CControlTallyMiss(tally, Int32(observer), UInt64(missed)) }
            if count > 0 { CControlTallyHandle(tally, Int32(observer), UInt64(count)) }
        }
    }
}
