import Foundation
import SharedTesting

@testable import PostingQueues
@testable import ThreadedNotifications

/// Gives random work to the current thread's run loop, from all of its callouts, and compares the results with a model.
//
// Safety: the test hands it to the thread of the run loop, and reads it after that thread has finished. Another thread
// that enqueues gets values only.
final class RandomRunLoop: PostingCenter, @unchecked Sendable {
    static let modes: [RunLoop.Mode] = [.default, RunLoop.Mode("A"), RunLoop.Mode("B")]
    private static let setsOfModes: [Set<RunLoop.Mode>] = [
        [.default], [.default], [.common], [modes[1]], [modes[2]], [.default, modes[1]], [modes[1], modes[2]],
        [.common, modes[2]], Set(modes),
    ]
    private static let styles: [NotificationQueue.PostingStyle] = [.now, .asap, .whenIdle]
    private static let masks: [NotificationQueue.NotificationCoalescing] = [
        [], .onName, .onSender, [.onName, .onSender],
    ]
    private static let numberKey = "number"
    private static let limit = 10.0

    private let seed: UInt64
    private var random: SeededGenerator
    private var expected = ExpectedPostings(queues: 3)
    private var queues: [PostingQueue] = []
    /// The thread; nil before it is known.
    private var owner: ThreadIdentity?
    private var actionsLeft = 0
    /// True if the test may make a mode common, which cannot be undone.
    private let mayMakeCommon: Bool
    /// Another thread that enqueues.
    private let other: RunLoopThread
    /// Makes `RunLoop.run(mode:before:)` return.
    private var endOfRun: RunLoopSource?
    private var endNumber: Int?
    private var sources: [(source: RunLoopSource, modes: Set<RunLoop.Mode>, number: Int?)] = []
    private var probes: [Int: RunLoopProbe] = [:]
    private var sentinel: (number: Int, whenPosted: () -> Void)?

    init(seed: UInt64, mayMakeCommon: Bool, other: RunLoopThread) {
        self.seed = seed
        self.mayMakeCommon = mayMakeCommon
        self.other = other
        random = SeededGenerator(seed: seed)
    }

    /// The first error.
    var wrong: String? { expected.wrong.map { "seed \(seed): \($0)" } }

    private func require(_ isSo: Bool, _ what: @autoclosure () -> String) {
        if isSo { return }
        let what = what()
        expected.require(false, what)
    }

    private func choose(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    // MARK: The steps of a test

    /// Enqueues for a thread that is not started yet. Called first, on another thread.
    func prepare(for thread: RunLoopThread) {
        makeQueues(on: thread)
        for _ in 0..<choose(6) {
            let item = item(
                style: Self.styles[choose(3)], modes: Self.setsOfModes[choose(Self.setsOfModes.count)])
            let mask = Self.masks[choose(4)]
            let (_, removed) = expected.enqueue(item, mask, keepsEarliest: false)
            let report = queues[item.queue].enqueue(
                Self.notification(item), postingStyle: item.style, coalesceMask: mask, forModes: Array(item.modes))
            require(report == EnqueueReport(outcome: .waiting, removed: removed), "before the start: \(report)")
        }
        checkCounts()
    }

    private func makeQueues(on thread: some DeliveryTarget) {
        for _ in 0..<3 { queues.append(PostingQueue(center: self, on: thread)) }
    }

    /// Sets the thread. Called on it, before the other methods.
    func attach() {
        require(owner == nil || owner == .current, "what waited for the thread was posted on \(owner!)")
        owner = .current
        expected.threadRuns = !RunningMode.current.isNone
        if queues.isEmpty { makeQueues(on: .current) }
        actionsLeft = 5 + choose(35)
        endOfRun = source(isLast: true, Set(Self.modes)) { [unowned self] in endNumber }
        for (index, modes) in [[.default, Self.modes[1]], [.common, Self.modes[2]] as Set].enumerated() {
            let source = source(isLast: false, modes) { [unowned self] in
                let number = sources[index].number
                sources[index].number = nil
                return number
            }
            sources.append((source, modes, nil))
        }
    }

    private func source(
        isLast: Bool, _ modes: Set<RunLoop.Mode>, _ comesTo: @escaping () -> Int?
    ) -> RunLoopSource {
        // Safety: performed by this thread's run loop only.
        nonisolated(unsafe) let comesTo = comesTo
        let source = RunLoopSource(order: isLast ? .max : 0) { [unowned self] in
            if let number = comesTo() { come(to: number) }
        }
        for mode in modes { source.add(to: .current, mode: mode) }
        return source
    }

    /// Gives work in a callout that this test did not cause.
    func begin() {
        expected.begin(.other)
        act(upTo: 8)
        expected.end()
    }

    /// Runs in random modes, and then until all work is done.
    func drive() {
        for _ in 0..<choose(4) {
            act(upTo: 5)
            run(Self.modes[choose(3)], waits: choose(4) > 0)
        }
        for _ in 0..<2 where choose(3) == 0 { enqueueWhileRunning() }
        actionsLeft = min(actionsLeft, 5)
        var runs = 0
        while expected.wrong == nil, let mode = Self.modes.shuffled(using: &random).first(where: expected.hasWork) {
            run(mode, waits: true)
            runs += 1
            require(runs < 1_000, "after 1,000 runs \(expected.waiting) and \(expected.inputs) are left")
        }
        require(expected.waiting.isEmpty, "all work is done, but \(expected.waiting) wait")
        checkCounts()
        checkThatNothingIsKept()
    }

    private func checkThatNothingIsKept() {
        let postings = ServedThread.current(isServed: true).service(ThreadPostings.self)
        let (buffer, senders) = postings.state.withLock { ($0.buffer.count, $0.senders.isEmpty) }
        require(buffer == 0, "all was posted, but the buffer holds \(buffer)")
        require(senders, "all was posted, but senders are retained")
    }

    /// Calls a block in a handler after all notifications were posted that wait `whenIdle` for the default mode now.
    func whenIdle(_ block: @escaping () -> Void) {
        var item = item(style: .whenIdle, modes: [.default])
        // In a separate queue, so that it is not coalesced or dequeued.
        item.queue = 2
        sentinel = (item.number, block)
        _ = expected.enqueue(item, [], keepsEarliest: false)
        queues[item.queue].enqueue(
            Self.notification(item), postingStyle: .whenIdle, coalesceMask: [], forModes: [.default])
    }

    private func sentinelIsPosted() {
        guard let (_, block) = sentinel else { return }
        // Not in another callout, which still has to run the run loop.
        if expected.runs == 0 { block() } else { whenIdle(block) }
    }

    /// The thread will be stopped, so its run loop does not wait any longer.
    func endBegins() {
        expected.mayWait = false
    }

    /// The thread has ended. The remaining notifications have lost their target, and the last run must not have skipped
    /// one.
    func checkAfterTheEnd() {
        let left = expected.waiting.first { $0.style != .whenIdle && expected.fits($0.modes, .default) }
        require(left == nil, "the thread has ended without posting \(left!)")
        for queue in queues.indices {
            var counts = expected.counts(queue: queue)
            (counts.targetGone, counts.waiting) = (counts.waiting, 0)
            let (found, wanted) = (queues[queue].counters, counts)
            require(found == wanted, "after the end: \(found), expected \(wanted)")
            let report = queues[queue].enqueue(
                Self.notification(item(style: .asap, modes: [])), postingStyle: .asap)
            require(report == EnqueueReport(outcome: .targetGone, removed: 0), "after the end: \(report)")
            let gone = queues[queue].counters.targetGone
            require(gone == wanted.targetGone + 1, "after the end: targetGone is \(gone)")
        }
    }

    /// Removes the sources from the run loop.
    func detach() {
        endOfRun = nil
        sources = []
        probes = [:]
        queues = []
    }

    private func checkCounts() {
        for queue in queues.indices {
            let (found, wanted) = (queues[queue].counters, expected.counts(queue: queue))
            require(found == wanted, "queue \(queue) counts \(found), expected \(wanted)")
        }
    }

    // MARK: Running

    private func run(_ mode: RunLoop.Mode, waits: Bool) {
        guard expected.wrong == nil else { return }
        expected.begin(.run(mode, waits: waits))
        let limit = Date(timeIntervalSinceNow: Self.limit)
        if waits { returnUnlessIdleWill() }
        _ = RunLoop.current.run(mode: mode, before: waits ? limit : .distantPast)
        if waits {
            require(limit.timeIntervalSinceNow > 0, "nothing is posted, but \(expected.waiting) wait")
        }
        expected.end()
    }

    /// Makes the run return. A run that posts an idle notification returns by itself.
    private func returnUnlessIdleWill() {
        guard endNumber == nil, !expected.isWaiting([.whenIdle], in: expected.mode) else { return }
        endNumber = expected.add(.source, Set(Self.modes))
        endOfRun?.signal()
    }

    /// Another thread enqueues while this one sleeps, or is about to.
    private func enqueueWhileRunning() {
        let mode = Self.modes[choose(3)]
        guard expected.wrong == nil, !expected.hasWork(in: mode) else { return }
        let item = item(style: Self.styles[choose(3)], modes: [mode])
        expected.note("from another thread, while it runs:")
        _ = expected.enqueue(item, [], keepsEarliest: false)
        let queue = queues[item.queue]
        try? other.perform {
            queue.enqueue(
                Self.notification(item), postingStyle: item.style, coalesceMask: [], forModes: Array(item.modes))
        }
        while expected.wrong == nil, expected.waiting.contains(where: { $0.number == item.number }) {
            expected.begin(.run(mode, waits: true))
            let limit = Date(timeIntervalSinceNow: Self.limit)
            _ = RunLoop.current.run(mode: mode, before: limit)
            require(limit.timeIntervalSinceNow > 0, "\(item) does not wake the run loop")
            // The notification may come when the run has just ended.
            expected.end(comingMeanwhile: item.number)
        }
    }

    private func come(to number: Int) {
        guard expected.wrong == nil else { return }
        expected.begin(input: number)
        // The run ends with it.
        let isEndOfRun = number == endNumber
        if isEndOfRun { endNumber = nil }
        act(upTo: 3)
        if !isEndOfRun { returnUnlessIdleWill() }
        expected.end()
    }

    func post(_ queued: QueuedNotification) {
        guard expected.wrong == nil else { return }
        let number = queued.notification.userInfo?[Self.numberKey] as? Int ?? 0
        if owner == nil { owner = .current }
        require(ThreadIdentity.current == owner, "\(number) is posted on \(ThreadIdentity.current)")
        guard let item = expected.post(number) else { return }
        expected.begin(.handler(item))
        if number == sentinel?.number { sentinelIsPosted() } else { act(upTo: 3) }
        // A run ends after a post.
        expected.end()
    }

    // MARK: Random work

    private func act(upTo count: Int) {
        for _ in 0..<choose(count + 1) where actionsLeft > 0 && expected.wrong == nil {
            actionsLeft -= 1
            act()
        }
    }

    private func act() {
        let modes = Self.setsOfModes[choose(Self.setsOfModes.count)]
        switch choose(24) {
        case 0..<10:
            enqueue()
        case 10:
            let item = item(style: .now, modes: [])
            let mask = Self.masks[choose(4)]
            let count = expected.dequeue(like: item, mask)
            let dequeued = queues[item.queue].dequeueNotifications(
                matching: Self.notification(item), coalesceMask: mask)
            require(dequeued == count, "\(dequeued) dequeued, expected \(count)")
            checkCounts()
        case 11, 12:
            let number = expected.add(.timer, [modes.first!])
            RunLoop.addDueTimer(in: modes.first!) { [weak self] in self?.come(to: number) }
        case 13, 14:
            let number = expected.add(.block(generation: expected.generation), modes)
            RunLoop.current.perform(inModes: Array(modes)) { [weak self] in self?.come(to: number) }
        case 15, 16:
            // A stopped thread accepts no more blocks.
            guard ServedThread.current(isServed: true).isOpen else { return }
            let number = expected.add(.mailbox, [.common])
            try? CurrentThread.current.performLater { [weak self] in self?.come(to: number) }
        case 17:
            let index = choose(sources.count)
            guard sources[index].number == nil else { return }
            sources[index].number = expected.add(.source, sources[index].modes)
            sources[index].source.signal()
        case 18:
            guard owner?.number == 1 else { return }
            let number = expected.add(.mainJob, [.common])
            DispatchQueue.main.async { [weak self] in self?.come(to: number) }
        case 19:
            makeDescriptorReady()
        case 20 where mayMakeCommon && expected.chain == 0:
            // Not in a handler, because the modes of its batch are fixed.
            let mode = Self.modes[1]
            expected.makeCommon(mode)
            RunLoop.makeCommonInCurrent(mode)
        default:
            guard expected.runs < 3 else { return }
            run(Self.modes[choose(3)], waits: choose(3) > 0)
        }
    }

    private func makeDescriptorReady() {
        // Only in a run of this test, because otherwise it is not known whether the run loop runs.
        guard expected.runs > 0 else { return }
        let number = expected.add(.descriptor, [expected.mode])
        probes[number] = RunLoopProbe { [unowned self] in
            probes[number]?.disarm()
            come(to: number)
            probes[number] = nil
        }
        probes[number]?.arm()
    }

    private func enqueue() {
        // A pass posts 10 batches of notifications that handlers enqueue. Longer chains would wait for the next pass.
        let styles = expected.chain < 8 ? Self.styles : [.whenIdle]
        let item = item(
            style: styles[choose(styles.count)], modes: Self.setsOfModes[choose(Self.setsOfModes.count)])
        let mask = Self.masks[choose(4)]
        let kept: PostingQueue.Kept = choose(2) == 0 ? .latest : .earliest
        // Nil and an empty array mean the default mode.
        let modes = item.modes == [.default] ? [[.default], [], nil][choose(3)] : Array(item.modes)
        let (isCoalesced, removed) = expected.enqueue(item, mask, keepsEarliest: kept == .earliest)
        let (queue, isElsewhere) = (queues[item.queue], choose(5) == 0)
        let report: EnqueueReport?
        if isElsewhere {
            report = try? other.performAndWait(timeout: TestTimeout.hang) {
                queue.enqueue(
                    Self.notification(item), postingStyle: item.style, coalesceMask: mask, keeping: kept,
                    forModes: modes)
            }
        } else {
            let servesAll = item.style == .now && !expected.isRunning
            expected.begin(.enqueuing(item.number, otherModes: servesAll ? item.modes : nil))
            report = queue.enqueue(
                Self.notification(item), postingStyle: item.style, coalesceMask: mask, keeping: kept, forModes: modes)
            expected.end()
        }
        check(report, of: item, isCoalesced: isCoalesced, removed: removed, isElsewhere: isElsewhere)
        checkCounts()
    }

    private func check(
        _ report: EnqueueReport?, of item: ExpectedPostings.Item, isCoalesced: Bool, removed: Int, isElsewhere: Bool
    ) {
        require(
            report?.removed == removed, "\(item.number): \(String(describing: report)), and not \(removed)")
        let waits = expected.waiting.contains { $0.number == item.number }
        switch report?.outcome {
        case .coalesced where isCoalesced:
            break
        case .waiting:
            require(waits, "\(item.number) is reported as waiting, but does not wait")
            let isServed = !expected.isRunning || expected.fits(item.modes, expected.mode)
            let isDue = item.style == .now && !isElsewhere && isServed
            require(!isDue, "\(item.number) was not posted before enqueue returned")
        case .delivered, .coalesced, .cancelled:
            // A handler of an earlier notification may have replaced or dequeued it.
            require(!waits && item.style == .now && !isElsewhere, "\(item.number): \(report!)")
        case .targetGone, .dropped, .refused, nil:
            require(false, "\(item.number): \(String(describing: report))")
        }
    }

    private func item(style: NotificationQueue.PostingStyle, modes: Set<RunLoop.Mode>) -> ExpectedPostings.Item {
        ExpectedPostings.Item(
            number: expected.number(), queue: choose(2), name: choose(2), sender: RandomSender.numbers[choose(7)],
            style: style, modes: modes, chain: expected.chain)
    }

    private static func notification(_ item: ExpectedPostings.Item) -> Notification {
        Notification(
            name: Notification.Name("RandomRunLoop \(item.name)"), object: RandomSender.object(item.sender),
            userInfo: [numberKey: item.number])
    }
}
