internal import Foundation

/// When the posting queues of a thread post. All of it is called on that thread.
extension ThreadPostings {
    /// How many batches of what handlers enqueue one pass of the run loop posts, so that a handler which always enqueues
    /// another does not keep the run loop from its other work.
    private static let batchesInAPass = 10

    /// The run loop announces what it does.
    /// - Parameter observer: the depth of the observer that it is announced to; the others of this moment are told too.
    func runLoop(_ activity: RunLoopObserver.Activity, observer: Int) {
        guard observer == depth else { return }
        switch activity {
        case .entry:
            disturbWatch()
            returns.runBegins()
            looksIn = .current
        case .beforeTimers:
            // While it was there, the run loop had something to wait for, whatever was taken out.
            if probe?.disarm() == true { mustGoRound = true }
            watch.passBegins()
            looksIn = .current
            if postDue() { returns.posted() }
            returns.signalIfOwed()
        case .beforeWaiting:
            looksIn = nil
            if postDue() { returns.posted() }
            if returns.signalIfOwed() || mustGoRound {
                mustGoRound = false
                watch.isDisturbed()
                wakeUp()
            } else {
                waitForIdle()
            }
        case .exit:
            // What is idle stays for the next run: a run loop that is left does not wait.
            disturbWatch()
            postDue()
            keepNextRun()
            // Who is told that a run ends may be called by a run that is about to wait. And what woke that may be used up.
            looksIn = nil
            if returns.runEnds() { mustGoRound = true }
        }
    }

    private func keepNextRun() {
        state.withLock { state in
            guard !state.buffer.isEmpty else { return }
            state.lanes.runEnds()
            _ = state.updateSources()
        }
    }

    private func disturbWatch() {
        probe?.disarm()
        watch.isDisturbed()
    }

    /// Calls handlers from an observer, which is not called meanwhile; if they run the run loop, another is.
    private func callOut(_ body: () -> Void) {
        depth += 1
        prepareObserver(depth: depth)
        ThreadContext.current.nest("what is posted while a handler runs the run loop", body)
        depth -= 1
        // The one that the next call needs may stay.
        if depth == 0 { state.withLock { $0.lanes.removeObservers(deeperThan: 1) } }
    }

    // MARK: Now and as soon as possible

    /// Posts what is to be posted now, in its turn: what waits with the same style and may be posted in this mode comes first.
    func postNow(through place: UInt64) {
        ThreadContext.current.nest("what is enqueued to be posted now") {
            post([.now], lanes: deliverableLanes(), before: place + 1)
        }
    }

    /// Posts all that need not wait for an idle run loop: what waits, and then, a batch after the other, what handlers
    /// have enqueued meanwhile.
    /// - Returns: whether there was anything.
    @discardableResult
    private func postDue() -> Bool {
        guard isWaiting([.now, .asap], lanes: deliverableLanes()), ThreadContext.current.mayNest else { return false }
        disturbWatch()
        callOut {
            for _ in 0..<Self.batchesInAPass {
                // In this order: what another thread enqueues in between, for a set of modes that is new, is before the end
                // and in none of the lanes otherwise, and would be overtaken. A handler may make a new one too.
                let end = state.withLock { $0.buffer.nextPlace }
                let lanes = deliverableLanes()
                guard isWaiting([.now, .asap], lanes: lanes) else { break }
                post([.now, .asap], lanes: lanes, before: end)
            }
        }
        return true
    }

    private func post(_ styles: [NotificationQueue.PostingStyle], lanes: [Int], before end: UInt64) {
        for style in styles {
            while let item = take(style, lanes: lanes, before: end) {
                post(item)
            }
        }
    }

    private func post(_ item: EnqueuedNotification) {
        posts += 1
        item.post()
        posts -= 1
    }

    private func take(
        _ style: NotificationQueue.PostingStyle, lanes: [Int], before end: UInt64
    ) -> EnqueuedNotification? {
        let (item, _) = state.withLock { state -> (EnqueuedNotification?, [NotificationObject]) in
            guard let item = state.buffer.takeFirst(style, lanes: lanes, before: end) else { return (nil, []) }
            _ = state.updateSources()
            return (item, state.releaseSenders(of: [item]))
        }
        return item
    }

    // MARK: When idle

    /// The run loop announces that it will wait, and nothing else is to be posted.
    private func waitForIdle() {
        guard isWaiting([.whenIdle], lanes: deliverableLanes()), ThreadContext.current.mayNest else {
            return disturbWatch()
        }
        switch watch.wouldWait() {
        case .goRound:
            wakeUp()
        case .arm:
            if probe == nil { probe = RunLoopProbe { [weak self] in self?.probeReturned() } }
            if let probe { return probe.arm() }
            // Without a descriptor for it, that the run loop came to wait twice must do.
            callOut(postIdle)
            returns.posted()
            returns.signalIfOwed()
            wakeUp()
        }
    }

    private func probeReturned() {
        probe?.disarm()
        if watch.probeReturned() { postIdle() }
    }

    /// Posts one: what its handler does may give the run loop work, and the next has to wait for that.
    private func postIdle() {
        disturbWatch()
        let lanes = deliverableLanes()
        // Another thread may have handed over something meanwhile.
        if isWaiting([.now, .asap], lanes: lanes) || ThreadContext.current.mailbox?.signalDeliverable() == true {
            return
        }
        guard let item = take(.whenIdle, lanes: lanes, before: .max) else { return }
        ThreadContext.current.nest("what is posted while a handler runs the run loop") { post(item) }
    }

    // MARK: The run loop

    private func isWaiting(_ styles: [NotificationQueue.PostingStyle], lanes: [Int]) -> Bool {
        state.withLock { state in styles.contains { !state.buffer.isEmpty($0, lanes: lanes) } }
    }

    /// The lanes whose modes the run loop serves now; none if nothing waits at all.
    private func deliverableLanes() -> [Int] {
        state.withLock { $0.buffer.isEmpty ? [] : $0.lanes.deliverable }
    }

    private func wakeUp() {
        state.withLock { $0.lanes.runLoop }?.wakeUp()
    }
}
