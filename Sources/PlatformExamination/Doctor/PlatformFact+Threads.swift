internal import DeliveryDiagnostics
internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// F15 to F17: threads.
extension PlatformFact {
    static let threads: [PlatformFact] = [
        PlatformFact(
            number: "F15", area: "Thread", expected: "a thread's name is kept",
            questions: [
                TrialQuestion(
                    "name-before-start", "a name that is set before the thread starts is kept",
                    expected: TrialExpectation(events: ["named worker"]),
                    foundation: { notes in
                        let hasEnded = Gate("the thread")
                        let thread = Thread {
                            note(Thread.current.name, notes)
                            hasEnded.open()
                        }
                        thread.name = "worker"
                        thread.start()
                        try hasEnded.wait(timeout: TrialTimeouts.ours)
                    },
                    ours: .body { notes in
                        try onThread(named: "worker") { note(ThreadIdentity.current.name, notes) }
                    }),
                TrialQuestion(
                    "name-of-another", "a thread's name can be read on another thread",
                    expected: TrialExpectation(events: ["named worker"]),
                    foundation: { notes in
                        let (isNamed, isAsked) = (Gate("the thread"), Gate("the question"))
                        let thread = Thread {
                            Thread.current.name = "worker"
                            isNamed.open()
                            try? isAsked.wait(timeout: TrialTimeouts.ours)
                        }
                        thread.start()
                        try isNamed.wait(timeout: TrialTimeouts.ours)
                        note(thread.name, notes)
                        isAsked.open()
                    },
                    ours: .body { notes in
                        let thread = RunLoopThread(name: "worker")
                        try thread.start()
                        note(thread.identity?.name, notes)
                    }),
                TrialQuestion(
                    "long-name", "a name of more than 15 bytes is kept",
                    expected: TrialExpectation(events: ["named \(longName)"]),
                    foundation: { notes in
                        let hasEnded = Gate("the thread")
                        Thread.detachNewThread {
                            Thread.current.name = longName
                            note(Thread.current.name, notes)
                            hasEnded.open()
                        }
                        try hasEnded.wait(timeout: TrialTimeouts.ours)
                    },
                    ours: .body { notes in
                        try onThread(named: longName) { note(ThreadIdentity.current.name, notes) }
                    }),
            ]),
        PlatformFact(
            number: "F16", area: "Thread", expected: "a thread is described by number and name, and logged by its id",
            questions: [
                TrialQuestion(
                    "thread-description", "the main thread's description has its number and name",
                    sentence: "current thread = {number = 1, name = main}",
                    expected: TrialExpectation(events: [mainThread]),
                    foundation: { notes in
                        let description = "\(Thread.current)"
                        notes.note(
                            description.contains(mainThread)
                                ? mainThread : description.replacing(/0x[0-9a-f]+/, with: "0x…"))
                    },
                    ours: .body { notes in notes.note("\(ThreadIdentity.current)") }),
                TrialQuestion(
                    "logged-thread-id", "the thread's id in a line of the log is the kernel's",
                    expected: TrialExpectation(events: ["the kernel's id"]),
                    foundation: { notes in
                        noteID(try idLoggedByFoundation(), notes)
                    },
                    ours: .body { notes in noteID("\(ThreadIdentity.current.kernelID)", notes) }),
            ]),
        PlatformFact(
            number: "F17", area: "Thread", expected: "the end of a thread is reported",
            questions: [
                TrialQuestion(
                    "thread-end", "NSThreadWillExit is posted",
                    expected: TrialExpectation(events: ["posted"]),
                    foundation: { notes in
                        let isPosted = Locked(false)
                        let token = NotificationCenter.default.addObserver(
                            forName: .NSThreadWillExit, object: nil, queue: nil
                        ) { _ in isPosted.withLock { $0 = true } }
                        let thread = Thread {}
                        thread.start()
                        TrialTimeouts.runMain(until: { thread.isFinished }, timeout: TrialTimeouts.foundation)
                        let end = thread.isFinished ? "the thread has ended" : "the thread has not ended"
                        notes.note(isPosted.withLock { $0 } ? "posted" : "not posted", detail: end)
                        NotificationCenter.default.removeObserver(token)
                    },
                    ours: .other(TrialExpectation(events: ["a post reports that the thread has ended"])) { notes in
                        let (thread, center) = (RunLoopThread(name: "worker"), ThreadedNotificationCenter())
                        try thread.start()
                        let token = center.addObserver(forName: TestNotification.foundationName, on: thread) { _ in }
                        thread.stop()
                        try thread.waitUntilFinished(timeout: TrialTimeouts.ours)
                        let report = center.post(name: TestNotification.foundationName)
                        notes.note(
                            report.targetGone == 1
                                ? "a post reports that the thread has ended" : "a post does not report it")
                        token.cancel()
                    })
            ]),
    ]

    private static let longName = "a worker with a long name"
    private static let mainThread = "{number = 1, name = main}"

    private static func note(_ name: String?, _ notes: TrialNotes) {
        notes.note(name.map { $0.isEmpty ? "named nothing" : "named \($0)" } ?? "no name")
    }

    private static func onThread(named name: String, _ block: @escaping @Sendable () -> Void) throws {
        let thread = RunLoopThread(name: name)
        try thread.start()
        try thread.performAndWait(timeout: TrialTimeouts.ours, block)
    }

    @MainActor
    private static func noteID(_ id: String, _ notes: TrialNotes) {
        // The main thread's id is the process id.
        let expected = "\(ProcessInfo.processInfo.processIdentifier)"
        notes.note(
            id == expected ? "the kernel's id" : "another id", detail: id == expected ? nil : "\(id) of \(expected)")
    }

    /// The thread id in a line that `NSLog` writes on the main thread.
    @MainActor
    private static func idLoggedByFoundation() throws -> String {
        let pipe = Pipe()
        let saved = dup(STDERR_FILENO)
        dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        NSLog("who logs this?")
        dup2(saved, STDERR_FILENO)
        close(saved)
        try pipe.fileHandleForWriting.close()
        let line = pipe.fileHandleForReading.readDataToEndOfFile().prefix { $0 != UInt8(ascii: "\n") }
        return try LogLine(line).threadID
    }
}
