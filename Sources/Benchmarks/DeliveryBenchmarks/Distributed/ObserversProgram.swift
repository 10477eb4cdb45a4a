internal import CControl
internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The program of a process that holds observers of a benchmark. They count in memory that the posting process shares.
package enum ObserversProgram {
    /// The first argument of a process that holds observers.
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
    ///   - observer: the number of the only observer in this process; nil: all are in this process.
    ///   - core: the core to run on; nil: any core.
    package static func perform(_ kind: Kind, path: String, observer: Int?, core: Int?) throws {
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
        let numbers = observer.map { $0..<$0 + 1 } ?? 0..<count
        switch kind {
        case .plain:
            observe(try WireObservers(numbers.count, path: path, timeout: timeout), numbers, tally)
        case .wire:
            let directory = ServerDirectory(path: path)
            observe(
                try WireObservers.registered(
                    numbers.count, name: DistributedPoster.name.rawValue, at: directory, timeout: timeout),
                numbers, tally)
        case .center, .thread:
            let thread = kind == .thread ? RunLoopThread(name: "observers") : nil
            try thread?.start()
            var kept: [Any] = []
            for number in numbers {
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
            CControlTallySetReady(tally, Int32(numbers.count))
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

    private static func observe(_ observers: WireObservers, _ numbers: Range<Int>, _ tally: OpaquePointer) {
        CControlTallySetReady(tally, Int32(numbers.count))
        observers.count(until: STDIN_FILENO) { observer, count, missed in
            let number = Int32(numbers.lowerBound + observer)
            if missed > 0 { CControlTallyMiss(tally, number, UInt64(missed)) }
            if count > 0 { CControlTallyHandle(tally, number, UInt64(count)) }
        }
    }
}
