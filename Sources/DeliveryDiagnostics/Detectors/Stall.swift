internal import DeliveryRecording

extension Detector {
    /// Finds threads that do not drain, and handlers that keep the main thread from it.
    static let stalled = Detector(
        "stalled", "a thread stopped draining, or a handler occupied the main thread for too long",
        formerly: ["mainHeldUp"], limits: .stall, .mainBudget
    ) { $0.stopped + $0.mainHeldUp }

    /// The remedy for a main thread that does not run its run loop.
    static let asyncMain =
        "If main is async, as in tests of Swift Testing, its run loop runs only in a program that links AsyncMain: "
        + "link it, or write a synchronous main that ends with MainRunLoop.run(), or observe on a RunLoopThread. If "
        + "main ends with dispatchMain(), its run loop never runs: call MainRunLoop.run() instead."

    /// A wait is a problem if it exceeds the budget by this factor. Below that, the machine may just have been busy.
    static let farOver: UInt64 = 10
}

extension Evidence {
    /// Threads that stopped draining: a notification waits for the thread until the recording ends although the program
    /// continues. See `handlerNeverReturned` for a thread that is in a handler.
    fileprivate var stopped: [Finding] {
        // What a thread waits for is a finding of the wait.
        let awaited = index.spans.filter { $0.ending == .open && isForDelivery($0) }
            .flatMap { targets(of: index.entry($0.begin)) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return waiting.compactMap { thread, waiting -> Finding? in
            let (oldest, last) = (waiting[0].append, index.threads[Int(thread)].last)
            let since = timeToEnd(oldest)
            guard waiting.count > awaited[thread, default: 0], since > limits.stall.nanoseconds,
                silence(of: thread) == nil
            else { return nil }
            // A thread that has handled something for the same observer since then is slow, not stuck.
            let isSlow = index.spans.contains { span in
                span.begin > oldest && span.thread == index.entry(oldest).target && !span.isWait
                    && index.entry(span.begin).observer == index.entry(oldest).observer
            }
            if isSlow { return nil }
            let continues = last > oldest && timeToEnd(last) <= limits.stall.nanoseconds
            let isOne = waiting.count == 1
            return Finding(
                problem: "\(words.thread(thread)) \(continues ? "continues but does not drain" : "stopped draining"): "
                    + "\(waiting.count) \(isOne ? "notification or block waits" : "notifications or blocks wait") for "
                    + "it, the first since \(ElapsedTime.text(since)).", evidence: [oldest, last],
                remedy: continues
                    ? "It runs no run loop, or runs it in a mode that is not common. Run it in the default mode, or "
                        + "make the other mode common with CFRunLoopAddCommonMode."
                    : "Make it run its run loop with RunLoop.current.run(), or make it a RunLoopThread. Check what it "
                        + "has been doing since its last record."
                        + (index.isMain(thread) ? " \(Detector.asyncMain)" : ""),
                weight: Int(clamping: since), name: index.entry(oldest).name, thread: continues ? -1 : thread)
        }
    }

    /// Handlers that occupied the main thread for longer than its budget, without the handlers that ran inside them.
    fileprivate var mainHeldUp: [Finding] {
        let budget = limits.mainBudget.nanoseconds
        /// For each handler of the main thread: the time in handlers that ran inside it, which are measured separately.
        var nested: [Int32: UInt64] = [:]
        var long: [(span: RecordingIndex.Span, time: UInt64)] = []
        // Backwards, inner handlers come before the handlers around them.
        for (number, span) in index.spans.enumerated().reversed() where !span.isWait && index.isMain(span.thread) {
            guard let whole = index.duration(of: span) else { continue }
            let outer = index.handler(span.outer)
            if outer >= 0 { nested[outer, default: 0] += whole }
            let time = whole - min(whole, nested.removeValue(forKey: Int32(number)) ?? 0)
            if time > budget { long.append((span, time)) }
        }
        return long.grouped { call in
            [index.observer(of: call.span), words.observedName(index.entry(call.span.begin))]
        }.map { calls in
            // Of equal ones, the earliest.
            let (span, time) = calls.reduce(calls[0]) { $1.time >= $0.time ? $1 : $0 }
            let entry = index.entry(span.begin)
            let name = words.observedName(entry)
            return Finding(
                severity: time / Detector.farOver > budget ? .problem : .note,
                problem: "\(words.observer(entry.observer, name: name)) occupied the main thread for up to "
                    + "\(ElapsedTime.text(time)), \(words.times(calls.count)) for longer than "
                    + "\(ElapsedTime.text(budget)).",
                evidence: [words.registered(entry.observer), span.begin, span.end],
                remedy: "Observe on a RunLoopThread, do the work there, and post only the result to main.",
                weight: Int(clamping: time), name: name, formerKind: "mainHeldUp", sortedAs: .endedInHandler)
        }
    }
}
