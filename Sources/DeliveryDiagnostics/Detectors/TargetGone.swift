internal import DeliveryRecording

extension Detector {
    /// Finds notifications and blocks for a thread that was never started, that had ended, or that ended before it handled
    /// them (guarantee 10).
    static let targetGone = Detector(
        "targetGone", "notifications or blocks were for a thread that had ended or was never started",
        formerly: ["neverStarted"]
    ) { evidence in
        let index = evidence.index
        let gone = index.deliveries.filter { $0.outcome >= 0 && index.entry($0.outcome).stage == .targetGone }
        guard !gone.isEmpty else { return [] }
        /// The threads that handled what waited for them at least once.
        let served = Set(
            index.records(of: .drain).map { index.entry($0).thread }
                + index.spans.filter { $0.delivery >= 0 && index.deliveries[Int($0.delivery)].append >= 0 }
                .map(\.thread))
        return gone.grouped { delivery in
            [
                delivery.observer, index.name(of: delivery), index.target(of: delivery),
                index.entry(delivery.outcome).reason == .notStarted ? 1 : 0,
            ]
        }.map { evidence.finding(targetGone: $0, served) }
    }
}

extension Evidence {
    /// If the thread that posted also recorded `targetGone`, the post came too late. Otherwise the target thread
    /// abandoned it when it ended.
    private func isAfterEnd(_ delivery: RecordingIndex.Delivery) -> Bool {
        let target = index.target(of: delivery)
        let end = target < 0 ? -1 : index.threads[Int(target)].end
        return end >= 0
            ? delivery.first > end
            : delivery.append < 0 || index.entry(delivery.outcome).thread == index.entry(delivery.first).thread
    }

    fileprivate func finding(targetGone deliveries: [RecordingIndex.Delivery], _ served: Set<Int32>) -> Finding {
        let (target, observer) = (index.target(of: deliveries[0]), deliveries[0].observer)
        let name = index.name(of: deliveries[0])
        let (isMain, isBlock) = (index.isMain(target), observer < 0 && name < 0)
        let late = deliveries.filter(isAfterEnd)
        let first = late.first ?? deliveries[0]
        let (thread, numbered) = (target < 0 ? "the target thread" : words.thread(target), words.numberedThread(target))
        let noun = isBlock ? "block" : "notification"
        var finding = Finding(
            problem: "",
            evidence: [
                words.registered(observer), target < 0 ? -1 : index.threads[Int(target)].end, first.outcome,
            ], weight: deliveries.count, name: name)
        if index.entry(first.outcome).reason == .notStarted {
            finding.problem =
                "\(counted(deliveries.count, noun)) \(deliveries.count == 1 ? "was" : "were") not accepted "
                + "because \(thread) was never started."
            finding.remedy =
                "Call start() on the RunLoopThread before you use it as a target"
                + (target < 0 ? "." : ": \(numbered).")
            finding.formerKind = "neverStarted"
            return finding
        }
        // Its own thread added it, such as with .current, and may not run its run loop.
        let deliveredNothing =
            target >= 0 && !served.contains(target) && index.registration(of: observer)?.thread == target
        let (early, verb) = (deliveries.count - late.count, isBlock ? "handed over" : "posted")
        var parts: [String] = []
        if !late.isEmpty { parts.append("\(counted(late.count, noun)) \(verb) after \(thread) had ended") }
        if early > 0 { parts.append("\(counted(early, noun)) still waiting when \(thread) ended") }
        let subject =
            isBlock ? "Some blocks were never performed:" : "\(words.observer(observer, name: name)) did not receive"
        let more = deliveredNothing ? ", which delivered nothing that waited for it" : ""
        finding.problem = "\(subject) \(parts.joined(separator: ", and "))\(more)."
        finding.severity = !late.isEmpty || isMain ? .problem : .note
        if isMain {
            finding.remedy = "The main thread ended before the program. \(Detector.asyncMain)"
        } else if deliveredNothing {
            finding.remedy =
                "After \(numbered) added the observer, it must run its run loop, with RunLoop.current.run(), until "
                + "everything is handled; or use a RunLoopThread."
        } else if late.isEmpty {
            let wait = isBlock ? "performAndWait" : "postAndWait(_:timeout:)"
            finding.remedy =
                "Let \(numbered) handle what waits before it ends: wait for that with \(wait) before the thread is told "
                + "to end. A RunLoopThread handles what was posted before stop()."
        } else {
            finding.remedy =
                isBlock
                ? "Perform blocks before their thread stops, or keep the thread: perform(_:) throws if it has ended."
                : "Cancel the observer's token before its thread stops, or keep the thread. "
                    + "DeliveryCounters.targetGone tells the poster."
        }
        return finding
    }
}
