internal import DeliveryRecording

/// Finds handlers that occupied the main thread for longer than its budget.
enum MainHeldUp {
    /// A handler is a problem if it exceeds the budget by this factor. Below that, the machine may just have been busy.
    private static let farOver: UInt64 = 10

    static func findings(_ evidence: Evidence) -> [Finding] {
        let (words, limits) = (evidence.words, evidence.limits)
        let index = words.index
        let budget = limits.mainBudget.nanoseconds
        /// By observer, and name if the observer is not registered.
        var found: [UInt64: (count: Int, longest: UInt64, span: RecordingIndex.Span)] = [:]
        /// For each handler of the main thread: the time in handlers that ran inside it, which are measured separately.
        var nested: [Int32: UInt64] = [:]
        // Backwards, inner handlers come before the handlers around them.
        for (number, span) in index.spans.enumerated().reversed() where !span.isWait && index.isMain(span.thread) {
            guard let whole = index.duration(of: span) else { continue }
            let outer = index.handler(span.outer)
            if outer >= 0 { nested[outer, default: 0] += whole }
            let duration = whole - min(whole, nested.removeValue(forKey: Int32(number)) ?? 0)
            guard duration > budget else { continue }
            let entry = index.entry(span.begin)
            let key = indexPair(entry.observer, words.observedName(entry))
            let before = found[key] ?? (0, 0, span)
            found[key] =
                duration >= before.longest
                ? (before.count + 1, duration, span) : (before.count + 1, before.longest, before.span)
        }
        return found.values.map { found in
            let entry = index.entry(found.span.begin)
            let name = words.observedName(entry)
            return Finding(
                severity: found.longest / farOver > budget ? .problem : .note,
                problem: "\(words.observer(entry.observer, name: name)) occupied the main thread for up to "
                    + "\(ElapsedTime.text(found.longest)), \(words.times(found.count)) for longer than "
                    + "\(ElapsedTime.text(budget)).",
                evidence: [words.registered(entry.observer), found.span.begin, found.span.end],
                remedy: "Observe on a RunLoopThread, do the work there, and post only the result to main.",
                weight: Int(clamping: found.longest), name: name)
        }
    }
}
