internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds handlers that occupied the main thread for longer than its budget.
enum MainHeldUp {
    /// A handler is a problem if it exceeds the budget by this factor. Below that, the machine may just have been busy.
    private static let farOver: UInt64 = 10

    static func findings(_ index: DeliveryIndex, _ limits: DiagnosisLimits) -> [Finding] {
        struct Key: Hashable {
            var observer: Int32
            var name: Int32
        }
        let budget = limits.mainBudget.nanoseconds
        var found: [Key: (count: Int, longest: UInt64, handler: Int)] = [:]
        for (number, handler) in index.handlers.enumerated() {
            guard index.recording.threads[Int(handler.thread)].identity.number == 1,
                let whole = index.duration(of: number)
            else { continue }
            // Handlers that ran inside this one are measured separately.
            let duration = whole - min(whole, handler.nested)
            guard duration > budget else { continue }
            let key = Key(observer: handler.observer, name: index.entry(handler.deliver).name)
            var all = found[key] ?? (0, 0, number)
            all.count += 1
            if duration > all.longest { (all.longest, all.handler) = (duration, number) }
            found[key] = all
        }
        let words = DiagnosisWords(index)
        return found.map { key, found in
            let handler = index.handlers[found.handler]
            let registered = key.observer >= 0 ? index.registered[Int(key.observer)] : -1
            return Finding(
                kind: .mainHeldUp,
                severity: found.longest / farOver > budget ? .problem : .note,
                problem: "\(words.observer(key.observer, name: key.name)) occupied the main thread for up to "
                    + "\(ElapsedTime.text(found.longest)), \(words.times(found.count)) for longer than "
                    + "\(ElapsedTime.text(budget)).",
                evidence: [registered, handler.deliver, handler.returned].filter { $0 >= 0 },
                remedy: "Observe on a RunLoopThread, do the work there, and post only the result to main.",
                weight: Int(clamping: found.longest))
        }
    }
}
