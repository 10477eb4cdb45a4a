internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import TerminalText
internal import ThreadedNotifications

/// The document's last section: "there are ways that you might overcome these limitations. You could subclass
/// NSNotificationCenter or create a separate class". `ThreadedNotificationCenter` is that class: many observers, and
/// one mailbox for each thread.
struct ManyObserversScenario: Scenario {
    let name = "many-observers"
    let summary = "12 observers on 3 threads, many posters: all in order"

    private static let posters = 4
    private static let notifications = 20
    private static let threadNames = ["A", "B", "C"]
    private static let observers = 12

    func run(in environment: ScenarioEnvironment) throws {
        let center = ThreadedNotificationCenter()

        ScenarioRecording.logCurrentThread()
        let tokens = try environment.withThreads(Self.threadNames) { threads in
            for thread in threads {
                try thread.performAndWait(timeout: environment.timeout) { ScenarioRecording.logCurrentThread() }
            }
            let tokens = (0..<Self.observers).map { observer in
                center.addObserver(
                    forName: .test, on: threads[observer % threads.count], transform: { $0.object as? Int },
                    using: { _ in })
            }
            ScenarioRecording.log("\(tokens.count) observers on \(threads.count) threads")
            try environment.withThreads((1...Self.posters).map { "poster \($0)" }) { posters in
                for (index, poster) in posters.enumerated() {
                    // Together they post 1...total: the first poster 1, the second 2, and so on in turn.
                    try poster.perform {
                        for number in stride(from: index + 1, through: Self.notifications, by: Self.posters) {
                            center.post(name: .test, object: number)
                        }
                    }
                }
            }
            return tokens
        }
        for token in tokens { token.cancel() }
        ScenarioRecording.log("handled \(tokens.reduce(0) { $0 + $1.counters.delivered })")
    }

    func report(on run: RecordedRun) -> String? {
        let registered = run.all(.register)
        let threads = registered.prefix(Self.threadNames.count).map(\.target)
        let delivered = Dictionary(grouping: run.delivered.lazy.map(\.delivered.observer)) { $0 }.mapValues(\.count)
        let rows = threads.map { thread in
            let observers = registered.indices.filter { registered[$0].target == thread }
            let handled = observers.map { delivered[registered[$0].observer] ?? 0 }
            return [
                run.recording.describeThread(thread), observers.map { "\($0 + 1)" }.joined(separator: " "),
                handled.map(String.init).joined(separator: " "), "\(handled.reduce(0, +))",
            ]
        }
        let posts = run.all(.post)
        let signals = run.all(.signal).count { threads.contains($0.target) }
        let drains = run.all(.drain).count { threads.contains($0.thread) }
        return Table.text([["thread", "observers", "handled by each", "total"]] + rows)
            + "\nposts \(posts.count) by \(Set(posts.map(\.thread)).count) threads, signals \(signals), "
            + "drains \(drains)"
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        [
            .equal(
                "each post handled once for each observer", Array(run.delivered).count,
                Self.notifications * Self.observers),
            run.expectEachDelivered("none lost, none duplicated"),
            .each(
                "each handled on its observer's thread", run.delivered,
                { $0.delivered.thread == run.index.registration(of: $0.delivered.observer)?.target },
                otherwise: { "one was handled on \($0.delivered.place)" }),
            run.expectOrderKept("each poster's order kept for each observer"),
            run.expectRegistrationOrder("observers on one thread called in the order registered"),
        ]
    }
}
