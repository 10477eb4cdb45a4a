internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// F20: types and functions that the documents use and that Foundation on Linux lacks.
extension Question {
    static let missing: [Question] = [
        Question(
            "mach-port", "NSMachPort, and the delegate that handles its messages",
            sentence: "a communication port for signaling the correct thread (a Mach port)", fact: "F20",
            expected: ["there"], ofOurs: ["SignalPort: received on main"]
        ) { trial in
            // The class alone is no evidence: Foundation has one that programs cannot name and that does nothing.
            let hasClass = _typeByName("10Foundation10NSMachPortC") != nil
            trial.note(
                _typeByName("10Foundation18NSMachPortDelegate_p") == nil ? "no delegate" : "there",
                detail: hasClass ? "a class NSMachPort, which is unavailable" : "no class either")
        } ours: { trial in
            let port = trial.add(SignalPort()) { trial.note("SignalPort: received \(thread)") }
            Thread.detachNewThread { port.send(before: Date(), components: nil, from: nil, reserved: 0) }
            trial.runUntilNextEvent()
        },
        Question(
            "perform-on-thread", "performSelector:onThread:",
            sentence: "So how do you call a method on another thread? Well you can’t directly, you have to use:",
            fact: "F20", expected: ["there"], ofOurs: ["RunLoopThread.perform: performed on worker"]
        ) { trial in
            trial.note(_typeByName("10ObjectiveC8SelectorV") == nil ? "missing: there are no selectors" : "there")
        } ours: { trial in
            let worker = RunLoopThread(name: "worker")
            try worker.start()
            let name = try worker.performAndWait(timeout: Trial.timeout) { ThreadIdentity.current.name }
            trial.note("RunLoopThread.perform: performed on \(name ?? "another")")
        },
        Question(
            "distributed-center", "DistributedNotificationCenter",
            sentence:
                "NSDistributedNotificationCenter class manages notifications across multiple processes on a single "
                + "computer.",
            fact: "F20", expected: ["there"], ofOurs: ["DistributedCenter: received on main"]
        ) { trial in
            trial.note(_typeByName("10Foundation29DistributedNotificationCenterC") == nil ? "missing" : "there")
        } ours: { trial in
            // A server of its own, so that the user's server is not affected.
            let directory = FileManager.default.temporaryDirectory.appending(component: "notify-demo-\(getpid())")
                .path(percentEncoded: false)
            let center = try DistributedCenter(place: ServerPlace(directory: directory))
            defer {
                // The server would end by itself, but only after a minute.
                if case .connected(let server) = center.connectionState { kill(server, SIGTERM) }
                center.close()
                try? FileManager.default.removeItem(atPath: directory)
            }
            let token = try center.addObserver(forName: .test, object: "doctor") { notification in
                let isPosted = notification.userInfo == ["number": 1] && notification.sender == getpid()
                trial.note("DistributedCenter: received \(isPosted ? "" : "something else ")\(thread)")
            }
            try center.synchronize(timeout: Trial.timeout)
            try center.post(name: .test, object: "doctor", userInfo: ["number": 1])
            trial.runUntilNextEvent()
            token.cancel()
        },
        Question(
            "notifications-named", "notifications(named:), an asynchronous sequence", fact: "F20", expected: ["there"],
            ofOurs: ["notifications(named:buffer:transform:): read"]
        ) { trial in
            let sequence = NotificationCenter.default.notifications(named: Notification.Name.test)
            trial.note(sequence as Any is MissingSequence ? "missing" : "there")
        } ours: { trial in
            let (center, isRead) = (ThreadedNotificationCenter(), MonotonicSemaphore())
            let numbers = center.notifications(named: .test, buffer: .unbounded, transform: { $0.object as? Int })
            Task.detached {
                for await number in numbers where number == 1 { isRead.signal() }
            }
            center.post(name: .test, object: 1)
            try isRead.wait(for: "the reader")
            trial.note("notifications(named:buffer:transform:): read")
        },
    ]

    private static var thread: String { Thread.isMainThread ? "on main" : "elsewhere" }
}

/// The result of `notifications(named:)` if Foundation lacks that method. If Foundation has it, the compiler prefers
/// Foundation's declaration, because it is less general than the one below.
struct MissingSequence {}

extension NotificationCenter {
    fileprivate func notifications(named name: some Any) -> MissingSequence { MissingSequence() }
}
