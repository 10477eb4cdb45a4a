internal import DistributedNotifications
internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// F20: types and functions that the documents use and that Foundation on Linux lacks.
extension PlatformFact {
    static let missing: [PlatformFact] = [
        PlatformFact(
            number: "F20", area: "missing", expected: "what the documents use is there",
            questions: [
                TrialQuestion(
                    "mach-port", "NSMachPort, and the delegate that handles its messages",
                    sentence: "a communication port for signaling the correct thread (a Mach port)",
                    expected: TrialExpectation(events: ["there"]),
                    foundation: { notes in
                        // The class alone is no evidence: Foundation has one that programs cannot name and that does
                        // nothing.
                        let hasClass = _typeByName("10Foundation10NSMachPortC") != nil
                        notes.note(
                            _typeByName("10Foundation18NSMachPortDelegate_p") == nil ? "no delegate" : "there",
                            detail: hasClass ? "a class NSMachPort, which is unavailable" : "no class either")
                    },
                    ours: signalPort),
                TrialQuestion(
                    "perform-on-thread", "performSelector:onThread:",
                    sentence:
                        "So how do you call a method on another thread? Well you can’t directly, you have to use:",
                    expected: TrialExpectation(events: ["there"]),
                    foundation: { notes in
                        notes.note(
                            _typeByName("10ObjectiveC8SelectorV") == nil ? "missing: there are no selectors" : "there")
                    },
                    ours: .other(TrialExpectation(events: ["RunLoopThread.perform: performed on worker"])) { notes in
                        let worker = RunLoopThread(name: "worker")
                        try worker.start()
                        let name = try worker.performAndWait(timeout: TrialTimeouts.ours) {
                            ThreadIdentity.current.name
                        }
                        notes.note("RunLoopThread.perform: performed on \(name ?? "another")")
                    }),
                TrialQuestion(
                    "distributed-center", "DistributedNotificationCenter",
                    sentence:
                        "NSDistributedNotificationCenter class manages notifications across multiple processes on a "
                        + "single computer.",
                    expected: TrialExpectation(events: ["there"]),
                    foundation: { notes in
                        notes.note(
                            _typeByName("10Foundation29DistributedNotificationCenterC") == nil ? "missing" : "there")
                    },
                    ours: distributedCenter),
                TrialQuestion(
                    "notifications-named", "notifications(named:), an asynchronous sequence",
                    expected: TrialExpectation(events: ["there"]),
                    foundation: { notes in
                        let sequence = NotificationCenter.default.notifications(named: TestNotification.foundationName)
                        notes.note(sequence as Any is MissingSequence ? "missing" : "there")
                    },
                    ours: .other(TrialExpectation(events: ["notifications(named:buffer:transform:): read"])) { notes in
                        let (center, isRead) = (ThreadedNotificationCenter(), Gate("the reader"))
                        let numbers = center.notifications(
                            named: TestNotification.foundationName, buffer: .unbounded, transform: { $0.object as? Int }
                        )
                        Task.detached {
                            for await number in numbers where number == 1 { isRead.open() }
                        }
                        center.post(name: TestNotification.foundationName, object: 1)
                        try isRead.wait(timeout: TrialTimeouts.ours)
                        notes.note("notifications(named:buffer:transform:): read")
                    }),
            ])
    ]

    private static let signalPort = TrialQuestion.Counterpart.other(
        TrialExpectation(events: ["SignalPort: received on main"])
    ) { notes in
        let receiver = SignalReceiver {
            notes.note("SignalPort: received \(Thread.isMainThread ? "on main" : "elsewhere")")
        }
        let port = SignalPort()
        port.setDelegate(receiver)
        RunLoop.main.add(port, forMode: .default)
        Thread.detachNewThread { port.send(before: Date(), components: nil, from: nil, reserved: 0) }
        TrialTimeouts.runMain(until: { !notes.events.isEmpty }, timeout: TrialTimeouts.ours)
        port.invalidate()
    }

    /// Uses a server of its own, so that the user's server is not affected.
    private static let distributedCenter = TrialQuestion.Counterpart.other(
        TrialExpectation(events: ["DistributedCenter: received on main"])
    ) { notes in
        let directory = FileManager.default.temporaryDirectory.appending(component: "notify-demo-\(getpid())")
            .path(percentEncoded: false)
        let center = try DistributedCenter(place: ServerPlace(directory: directory))
        defer {
            // The server would end by itself, but only after a minute.
            if case .connected(let server) = center.connectionState { kill(server, SIGTERM) }
            center.close()
            try? FileManager.default.removeItem(atPath: directory)
        }
        let token = try center.addObserver(forName: TestNotification.foundationName, object: "doctor") { notification in
            let isPosted = notification.userInfo == ["number": 1] && notification.sender == getpid()
            notes.note(
                "DistributedCenter: received \(isPosted ? "" : "something else ")"
                    + (Thread.isMainThread ? "on main" : "elsewhere"))
        }
        try center.synchronize(timeout: TrialTimeouts.ours)
        try center.post(name: TestNotification.foundationName, object: "doctor", userInfo: ["number": 1])
        TrialTimeouts.runMain(until: { !notes.events.isEmpty }, timeout: TrialTimeouts.ours)
        token.cancel()
    }
}

/// The result of `notifications(named:)` if Foundation lacks that method. If Foundation has it, the compiler prefers
/// Foundation's declaration, because it is less general than the one below.
struct MissingSequence {}

extension NotificationCenter {
    fileprivate func notifications(named name: some Any) -> MissingSequence { MissingSequence() }
}
