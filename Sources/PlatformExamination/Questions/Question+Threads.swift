internal import CLinux
internal import Foundation
internal import ThreadedNotifications

/// F13 to F17, and F22: run loops, threads, and programs with an `async` main function. The counterparts of this
/// package are blocks performed on a thread, and the library `AsyncMain`.
extension Question {
    static let threads: [Question] = [
        Question(
            "perform-wakes-the-loop", "a block for a run loop that sleeps is performed before its next timer",
            fact: "F13", expected: ["performed"]
        ) { trial in
            // A run loop that is not woken performs the block when the timer fires.
            let timer = trial.side == .foundation ? Duration.milliseconds(500) : Trial.timeout
            trial.addTimer(after: timer) { trial.note("timer") }
            let (isRunning, isPerformed) = (MonotonicSemaphore(), Locked(false))
            RunLoop.main.perform { isRunning.signal() }
            Thread.detachNewThread {
                try? isRunning.wait(for: "the run loop")
                Trial.waitUntilMainThreadSleeps()
                let start = SuspendingClock.now
                let block: @Sendable () -> Void = {
                    trial.note("performed", detail: Trial.time(since: start))
                    isPerformed.withLock { $0 = true }
                }
                switch trial.side {
                case .foundation: RunLoop.main.perform { block() }
                case .ours: try? MainThread.main.perform(block)
                }
            }
            trial.run(until: { isPerformed.withLock { $0 } }, pass: timer + .milliseconds(100))
        },
        Question(
            "timer-interval", "a timer of 300 ms that is added to a run loop fires after 300 ms", fact: "F14",
            expected: ["fires when it is due"]
        ) { trial in
            let (interval, start) = (Duration.milliseconds(300), SuspendingClock.now)
            let fire: @Sendable () -> Void = {
                let isDue = start.duration(to: .now) >= interval - .milliseconds(10)
                trial.note(
                    isDue ? "fires when it is due" : "fires too early", detail: Trial.time(since: start))
            }
            switch trial.side {
            case .foundation:
                RunLoop.main.add(
                    Timer(timeInterval: interval / .seconds(1), repeats: false) { _ in fire() }, forMode: .default)
            case .ours: try MainThread.main.perform(after: interval, fire)
            }
            trial.runUntilNextEvent()
        },
        Question(
            "name-before-start", "a name that is set before the thread starts is kept", fact: "F15",
            expected: ["named worker"]
        ) { trial in
            try noteOwnName("worker", isSetBefore: true, trial)
        },
        Question(
            "name-of-another", "a thread's name can be read on another thread", fact: "F15", expected: ["named worker"]
        ) { trial in
            let (isNamed, isAsked) = (MonotonicSemaphore(), MonotonicSemaphore())
            let thread = Thread {
                Thread.current.name = "worker"
                isNamed.signal()
                try? isAsked.wait(for: "the question")
            }
            thread.start()
            try isNamed.wait(for: "the thread")
            note(name: thread.name, trial)
            isAsked.signal()
        } ours: { trial in
            let thread = RunLoopThread(name: "worker")
            try thread.start()
            note(name: thread.identity?.name, trial)
        },
        Question(
            "long-name", "a name of more than 15 bytes is kept", fact: "F15", expected: ["named \(longName)"]
        ) { trial in
            try noteOwnName(longName, isSetBefore: false, trial)
        },
        Question(
            "thread-description", "the main thread's description has its number and name",
            sentence: "current thread = {number = 1, name = main}", fact: "F16", expected: [mainThread]
        ) { trial in
            let description = "\(Thread.current)"
            trial.note(
                description.contains(mainThread) ? mainThread : description.replacing(/0x[0-9a-f]+/, with: "0x…"))
        } ours: { trial in
            trial.note("\(ThreadIdentity.current)")
        },
        Question(
            "logged-thread-id", "the thread's id in a line of the log is the kernel's", fact: "F16",
            expected: ["the kernel's id"]
        ) { trial in
            note(id: try idLoggedByFoundation(), trial)
        } ours: { trial in
            note(id: "\(ThreadIdentity.current.kernelID)", trial)
        },
        Question(
            "thread-end", "NSThreadWillExit is posted", fact: "F17", expected: ["posted"],
            ofOurs: ["an end observer is told"]
        ) { trial in
            let isPosted = Locked(false)
            _ = NotificationCenter.default.addObserver(forName: .NSThreadWillExit, object: nil, queue: nil) { _ in
                isPosted.withLock { $0 = true }
            }
            let thread = Thread {}
            thread.start()
            trial.run(until: { thread.isFinished }, timeout: trial.patience)
            trial.note(
                isPosted.withLock { $0 } ? "posted" : "not posted",
                detail: thread.isFinished ? "the thread has ended" : "the thread has not ended")
        } ours: { trial in
            let (thread, isTold) = (RunLoopThread(name: "worker"), Locked(false))
            let token = thread.addEndObserver(on: .postingThread) { _ in isTold.withLock { $0 = true } }
            try thread.start()
            thread.stop()
            try thread.waitUntilFinished(timeout: Trial.timeout)
            trial.note(isTold.withLock { $0 } ? "an end observer is told" : "an end observer is not told")
            token.cancel()
        },
        Question(
            "main-actor-thread", "the main actor runs on the main thread", fact: "F22",
            expected: ["on the main thread"], ofOurs: ["with AsyncMain: on the main thread"]
        ) { trial in
            continueAsMain(trial) { noteThread(trial) }
        },
        Question(
            "main-timers", "timers of RunLoop.main fire", fact: "F22", expected: ["fired"],
            ofOurs: ["with AsyncMain: fired"]
        ) { trial in
            trial.addTimer(after: .milliseconds(50)) { note("fired", trial) }
            continueAsMain(trial) {}
        },
        Question(
            "main-observers", "what is posted on another thread is handled on the main thread by its run loop",
            fact: "F22", expected: ["performed"], ofOurs: ["with AsyncMain: on the main thread"]
        ) { trial in
            continueAsMain(trial) { RunLoop.main.perform { trial.note("performed") } }
        } ours: { trial in
            trial.center.addObserver(on: .main(.ours)) { noteThread(trial) }
            Thread.detachNewThread { trial.center.post() }
            continueAsMain(trial) {}
        },
    ]

    private static let longName = "a worker with a long name"
    private static let mainThread = "{number = 1, name = main}"

    private static func note(name: String?, _ trial: Trial) {
        trial.note(name.map { $0.isEmpty ? "named nothing" : "named \($0)" } ?? "no name")
    }

    /// - Parameter isSetBefore: true if Foundation's thread is named before it starts, false if it names itself.
    @MainActor
    private static func noteOwnName(_ name: String, isSetBefore: Bool, _ trial: Trial) throws {
        guard trial.side == .foundation else {
            let thread = RunLoopThread(name: name)
            try thread.start()
            return try thread.performAndWait(timeout: Trial.timeout) { note(name: ThreadIdentity.current.name, trial) }
        }
        let hasEnded = MonotonicSemaphore()
        let thread = Thread {
            if !isSetBefore { Thread.current.name = name }
            note(name: Thread.current.name, trial)
            hasEnded.signal()
        }
        if isSetBefore { thread.name = name }
        thread.start()
        try hasEnded.wait(for: "the thread")
    }

    private static func note(id: String, _ trial: Trial) {
        // The main thread's id is the process id.
        let expected = "\(ProcessInfo.processInfo.processIdentifier)"
        trial.note(
            id == expected ? "the kernel's id" : "another id", detail: id == expected ? nil : "\(id) of \(expected)")
    }

    /// The thread id in a line that `NSLog` writes on the main thread: `… name[process:thread] …`.
    @MainActor
    private static func idLoggedByFoundation() throws -> String {
        let pipe = Pipe()
        let saved = dup(STDERR_FILENO)
        dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        NSLog("a message")
        dup2(saved, STDERR_FILENO)
        close(saved)
        try pipe.fileHandleForWriting.close()
        let line = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return line.firstMatch(of: /\[[0-9]+:([0-9a-f]+)\]/).map { String($0.1) } ?? "none"
    }

    private static func noteThread(_ trial: Trial) {
        note(Thread.isMainThread ? "on the main thread" : "on another thread", trial)
    }

    private static func note(_ words: String, _ trial: Trial) {
        trial.note(trial.side == .ours ? "with AsyncMain: \(words)" : words)
    }

    /// Continues as a program with an `async` main function does, which, for this package, links `AsyncMain`. Ends
    /// after the first event, or when there was enough time for one.
    @MainActor
    private static func continueAsMain(_ trial: Trial, _ body: @escaping @MainActor @Sendable () -> Void) {
        Task { @MainActor in
            // An async main function begins on the main thread. Only the part after a suspension shows the defect.
            try? await Task.sleep(for: .milliseconds(10))
            body()
            let deadline = SuspendingClock.now + trial.patience
            while trial.events.isEmpty, SuspendingClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
            _exit(0)
        }
        // What `AsyncMain` does before main begins. It is not linked, because only this child is to do it.
        if trial.side == .ours { CLinuxKeepMainThread() }
        runAsyncMain()
    }
}

/// The runtime function that the compiler calls after it has made the task of an `async` main function.
@_silgen_name("swift_task_asyncMainDrainQueue")
private func runAsyncMain() -> Never
