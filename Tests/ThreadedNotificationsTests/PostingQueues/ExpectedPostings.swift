import Foundation

@testable import PostingQueues
@testable import ThreadedNotifications

/// A model of the posting queues and the run loop of one thread by the rules of the documents: a plain array that is
/// searched from end to end. It is told each event and reports the first that breaks a rule.
struct ExpectedPostings {
    typealias Style = NotificationQueue.PostingStyle
    typealias Mask = NotificationQueue.NotificationCoalescing

    /// A notification.
    struct Item {
        /// In the order of enqueuing, common to notifications and inputs.
        var number: Int
        var queue: Int
        var name: Int
        /// Equal for similar senders; nil for a sender that is similar to none.
        var sender: Int?
        var style: Style
        var modes: Set<RunLoop.Mode>
        /// The length of the chain of handlers that led to it, each of which enqueued the next.
        var chain: Int
    }

    /// Work of the run loop other than posting.
    struct Input {
        enum Kind {
            case timer, source, descriptor, mailbox, mainJob
            /// A block of `RunLoop.perform`, at the end of a chain of so many blocks that each performed the next.
            case block(generation: Int)
        }

        var number: Int
        var kind: Kind
        var modes: Set<RunLoop.Mode>
    }

    /// A call that has not returned.
    enum Frame {
        case run(RunLoop.Mode, waits: Bool)
        case handler(Item)
        /// `otherModes`: the modes of a `now` while the run loop does not run. They are served too.
        case enqueuing(Int, otherModes: Set<RunLoop.Mode>?)
        /// `began`: the last number at its beginning.
        case input(Input, began: Int)
        /// A block or a job of another origin.
        case other
    }

    private(set) var waiting: [Item] = []
    private(set) var inputs: [Input] = []
    private(set) var frames: [Frame] = []
    private(set) var counts: [DeliveryCounters] = []
    private(set) var commonModes: Set<RunLoop.Mode> = [.default]
    /// True if the thread itself runs its run loop, in the default mode.
    var threadRuns = false
    /// True if the thread's own runs of the run loop may wait.
    var mayWait = true
    /// The first error.
    private(set) var wrong: String?
    private var log: [String] = []
    private var lastNumber = 0
    /// The notifications of handlers that must be posted in the same pass, and the depth of the frames.
    private var inThisPass: [(number: Int, depth: Int)] = []

    init(queues: Int) {
        counts = Array(repeating: DeliveryCounters(), count: queues)
    }

    mutating func number() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func require(_ isSo: Bool, _ what: @autoclosure () -> String) {
        if !isSo, wrong == nil { wrong = "\(what())\n  \(log.suffix(200).joined(separator: "\n  "))" }
    }

    mutating func note(_ what: @autoclosure () -> String) {
        if wrong == nil { log.append(String(repeating: "· ", count: frames.count) + what()) }
    }

    // MARK: Modes

    /// "A thread that runs no run loop counts as in the default mode."
    var mode: RunLoop.Mode {
        for case .run(let mode, _) in frames.reversed() { return mode }
        return .default
    }

    var isRunning: Bool { threadRuns || runs > 0 }

    func fits(_ modes: Set<RunLoop.Mode>, _ mode: RunLoop.Mode) -> Bool {
        modes.contains(mode) || modes.contains(.common) && commonModes.contains(mode)
    }

    mutating func makeCommon(_ mode: RunLoop.Mode) {
        note("\(mode.rawValue) becomes common")
        commonModes.insert(mode)
    }

    func isWaiting(_ styles: Set<Style>, in mode: RunLoop.Mode) -> Bool {
        waiting.contains { styles.contains($0.style) && fits($0.modes, mode) }
    }

    func hasWork(in mode: RunLoop.Mode) -> Bool {
        waiting.contains { fits($0.modes, mode) } || inputs.contains { fits($0.modes, mode) }
    }

    // MARK: Enqueuing and dequeuing

    /// - Returns: the expected report.
    mutating func enqueue(
        _ item: Item, _ mask: Mask, keepsEarliest: Bool
    ) -> (isCoalesced: Bool, removed: Int) {
        note("enqueue \(item), mask \(mask.rawValue), keeping \(keepsEarliest ? "earliest" : "latest")")
        var similar = waiting.filter { isSimilar($0, item, mask) }
        let isCoalesced = keepsEarliest && item.style != .now && !similar.isEmpty
        if isCoalesced { similar.removeFirst() }
        waiting.removeAll { one in similar.contains { $0.number == one.number } }
        counts[item.queue].coalesced += similar.count + (isCoalesced ? 1 : 0)
        if !isCoalesced {
            waiting.append(item)
            noteIfInThisPass(item)
        }
        return (isCoalesced, similar.count)
    }

    /// "What a handler enqueues asap is posted after the batch under way, in the same iteration."
    private mutating func noteIfInThisPass(_ item: Item) {
        guard item.style == .asap, fits(item.modes, mode) else { return }
        let depth = frames.lastIndex { if case .run = $0 { true } else { false } }.map { $0 + 1 } ?? 0
        guard depth < frames.count, case .handler(let handled) = frames[depth], handled.style != .whenIdle else {
            return
        }
        inThisPass.append((item.number, depth))
    }

    private func isSimilar(_ one: Item, _ other: Item, _ mask: Mask) -> Bool {
        if one.queue != other.queue || mask.isEmpty { return false }
        if mask.contains(.onName), one.name != other.name { return false }
        return !mask.contains(.onSender) || one.sender != nil && one.sender == other.sender
    }

    /// - Returns: the expected number.
    mutating func dequeue(like item: Item, _ mask: Mask) -> Int {
        note("dequeue like \(item), mask \(mask.rawValue)")
        let similar = waiting.filter { isSimilar($0, item, mask) }
        waiting.removeAll { one in similar.contains { $0.number == one.number } }
        counts[item.queue].cancelled += similar.count
        return similar.count
    }

    func counts(queue: Int) -> DeliveryCounters {
        var counts = counts[queue]
        counts.waiting = waiting.count { $0.queue == queue }
        return counts
    }

    // MARK: Posting

    /// A notification is posted.
    mutating func post(_ number: Int) -> Item? {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else {
            require(false, "\(number) is posted, but did not wait")
            return nil
        }
        let item = waiting[index]
        let mode = mode
        // "While the run loop does not run, a `now` is posted whatever its modes are, after earlier ones of its modes."
        var otherModes: Set<RunLoop.Mode>?
        if case .enqueuing(_, let modes) = frames.last { otherModes = modes }
        func isServed(_ item: Item) -> Bool { fits(item.modes, mode) || item.modes == otherModes }
        require(isServed(item), "\(item) is posted in \(mode.rawValue)")
        let overtaken = waiting[..<index].first { $0.style == item.style && isServed($0) }
        require(overtaken == nil, "\(item) is posted before \(overtaken!)")
        switch frames.last {
        case .enqueuing(let last, _):
            require(item.style == .now, "\(item) is posted while another is enqueued")
            require(number <= last, "\(item) is posted by an earlier call of enqueue")
        case .run, nil:
            requireWhatIsInThisPass(isPosted: item)
            if item.style == .whenIdle { requireIdle(item) }
        case .handler, .input, .other:
            require(false, "\(item) is posted in the middle of a callout")
        }
        waiting.remove(at: index)
        counts[item.queue].delivered += 1
        return item
    }

    /// "Only when the loop would wait: no timer due, no source signalled, no performed block or mailbox entry pending,
    /// and all asap ones gone. A loop about to exit posts asap and not idle."
    private mutating func requireIdle(_ item: Item) {
        let waits = if case .run(_, let waits) = frames.last { waits } else { mayWait }
        require(waits, "\(item) is posted, but the run loop does not wait")
        let dueFirst = waiting.first { $0.style != .whenIdle && fits($0.modes, mode) }
        require(dueFirst == nil, "\(item) is posted before \(dueFirst!)")
        let input = inputs.first { fits($0.modes, mode) && isSeen($0) }
        require(input == nil, "\(item) is posted before \(input!)")
    }

    /// True if the run loop must handle the input in the current run.
    private func isSeen(_ input: Input) -> Bool {
        switch input.kind {
        case .timer, .source, .descriptor, .mailbox:
            return true
        case .mainJob:
            // In a job that runs the run loop, the main queue is not served.
            return !frames.contains {
                if case .input(let other, _) = $0, case .mainJob = other.kind { true } else { false }
            }
        case .block(let generation):
            // CoreFoundation does not report blocks, so a chain of them may be interrupted. It takes all waiting blocks
            // at once, so a block that runs the run loop delays the others.
            let isTaken = frames.contains {
                if case .input(let other, let began) = $0, case .block = other.kind {
                    input.number <= began
                } else {
                    false
                }
            }
            return generation <= 1 && !isTaken
        }
    }

    /// No input comes before the notifications of the same pass.
    private mutating func requireWhatIsInThisPass(isPosted item: Item? = nil) {
        if let item, item.style != .whenIdle { return }
        let left = inThisPass.first { late in
            late.depth == frames.count && waiting.contains { $0.number == late.number && fits($0.modes, mode) }
        }
        require(left == nil, "\(left!.number) was enqueued by a handler, but not posted in the same pass")
    }

    // MARK: Frames

    mutating func add(_ kind: Input.Kind, _ modes: Set<RunLoop.Mode>) -> Int {
        let input = Input(number: number(), kind: kind, modes: modes)
        note("add \(input)")
        inputs.append(input)
        return input.number
    }

    /// The length of the chain of blocks that led to the current one.
    var generation: Int {
        for frame in frames.reversed() {
            switch frame {
            case .run: return 0
            case .input(let input, _): if case .block(let generation) = input.kind { return generation + 1 }
            case .handler, .enqueuing, .other: break
            }
        }
        return 0
    }

    /// The length of the chain of handlers that led to the current one.
    var chain: Int { frames.map { if case .handler(let item) = $0 { item.chain + 1 } else { 0 } }.max() ?? 0 }

    var runs: Int { frames.count { if case .run = $0 { true } else { false } } }

    /// The run loop handles an input.
    mutating func begin(input number: Int) {
        guard let index = inputs.firstIndex(where: { $0.number == number }) else {
            return require(false, "\(number) is handled twice")
        }
        let input = inputs.remove(at: index)
        let mode = mode
        require(fits(input.modes, mode), "\(input) is handled in \(mode.rawValue)")
        switch frames.last {
        case .run, nil: requireWhatIsInThisPass()
        default: break
        }
        begin(.input(input, began: lastNumber))
    }

    mutating func begin(_ frame: Frame) {
        note("\(frame)")
        frames.append(frame)
    }

    /// - Parameter comingMeanwhile: the notification that another thread enqueues at that time. The run loop may have
    ///   missed it.
    mutating func end(comingMeanwhile: Int? = nil) {
        let frame = frames.removeLast()
        guard case .run(let mode, _) = frame else { return }
        note("end of \(frame)")
        inThisPass.removeAll { $0.depth > frames.count }
        let left = waiting.first {
            $0.style != .whenIdle && fits($0.modes, mode) && $0.number != comingMeanwhile
        }
        require(left == nil, "the run has ended, and \(left!) still waits")
    }
}

extension ExpectedPostings.Item: CustomStringConvertible {
    var description: String {
        let modes = modes.map(\.rawValue).sorted().joined(separator: "+")
        return "\(number) \(style) in \(modes) (queue \(queue), name \(name), sender \(sender.map(String.init) ?? "-"))"
    }
}
