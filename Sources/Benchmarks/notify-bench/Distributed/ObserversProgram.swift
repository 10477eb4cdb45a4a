internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The program of the process that holds the observers of a distributed workload. They count in memory that the posting
/// process shares. `notify-bench` starts itself for it.
package struct ObserversProgram {
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

    private static let subcommand = "observers-child"
    private static let timeout = Duration.seconds(5)

    let arguments: [String]

    /// - Parameter count: the number of observers.
    init(_ kind: Kind, _ count: Int, in directory: ServerDirectory) {
        arguments = [Self.subcommand, kind.rawValue, directory.path, "\(count)"]
    }

    static func tallyPath(in directory: ServerDirectory) -> String { "\(directory.path)/tally" }

    /// Observes until standard input ends, if the program was started for it.
    ///
    /// - Parameter arguments: those of the process, without its name.
    /// - Returns: false if it was not started for it.
    package static func runIfAsked(_ arguments: [String]) throws -> Bool {
        guard arguments.count == 4, arguments[0] == subcommand, let kind = Kind(rawValue: arguments[1]),
            let count = Int(arguments[3]), count > 0
        else { return false }
        let directory = ServerDirectory(path: arguments[2])
        let parent = getppid()
        // Ctrl-C also reaches this process, but the parent decides when it ends.
        signal(SIGINT, SIG_IGN)
        defer {
            // The parent is gone and cannot remove its directory. The server ends by itself.
            if getppid() != parent { directory.remove() }
        }
        let tally = try Tally(count, at: tallyPath(in: directory), isNew: false)
        switch kind {
        case .plain, .wire:
            let observers = try WireObservers(count, at: directory, areRegistered: kind == .wire, timeout: timeout)
            for number in 0..<count { tally.handle(1, by: number) }
            observers.count(until: STDIN_FILENO) { tally.handle($1, by: $0) }
        case .center, .thread:
            let thread = try kind == .thread ? RunLoopThread.started("observers").targetThread : .postingThread
            let kept = try (0..<count).map { number in
                let center = try DistributedCenter(directory: directory)
                let token = try center.addObserver(forName: DistributedPoster.name, on: thread) { _ in
                    tally.handle(1, by: number)
                }
                let gaps = center.addConnectionObserver(on: .postingThread) { event in
                    if case .gap(let gap) = event { tally.miss(Int(gap.count), by: number) }
                }
                try center.synchronize(timeout: timeout)
                return (center, token, gaps)
            }
            for number in 0..<count { tally.handle(1, by: number) }
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) < 0, errno == EINTR {}
            withExtendedLifetime(kept) {}
        }
        return true
    }
}
