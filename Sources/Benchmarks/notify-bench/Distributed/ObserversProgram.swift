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
        /// One center with handlers that its reading thread calls.
        case center
        /// One center with handlers that are all called on one other thread.
        case thread
        /// A center for each handler, in one process.
        case centers
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
        case .center, .thread, .centers:
            let thread = try kind == .thread ? RunLoopThread.started("observers").targetThread : .postingThread
            let groups = kind == .centers ? (0..<count).map { $0..<$0 + 1 } : [0..<count]
            let kept = try groups.map { try observe($0, at: directory, on: thread, tally) }
            for number in 0..<count { tally.handle(1, by: number) }
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) < 0, errno == EINTR {}
            withExtendedLifetime(kept) {}
        }
        return true
    }

    /// Observes with a center. The caller keeps what is returned.
    private static func observe(
        _ numbers: Range<Int>, at directory: ServerDirectory, on thread: TargetThread, _ tally: Tally
    ) throws -> (DistributedCenter, [ObserverToken]) {
        let center = try DistributedCenter(directory: directory)
        let tokens = try numbers.map { number in
            try center.addObserver(forName: DistributedPoster.name, on: thread) { _ in tally.handle(1, by: number) }
        }
        let gaps = center.addConnectionObserver(on: .postingThread) { event in
            // All of them observe each notification.
            if case .gap(let gap) = event { for number in numbers { tally.miss(gap.count, by: number) } }
        }
        try center.synchronize(timeout: timeout)
        return (center, tokens + [gaps])
    }
}
