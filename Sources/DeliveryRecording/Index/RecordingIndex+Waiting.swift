internal import ThreadedNotifications

/// Handlers, what caused them, and where a record stands in the way of its post. -1 means none.
extension RecordingIndex {
    /// The observer of a handler; -1 for a block or a wait.
    package func observer(of span: Span) -> Int32 { span.isWait ? -1 : entry(span.begin).observer }

    /// The handler, in `spans`, that made the post of a handler.
    package func cause(of handler: Span) -> Int32 {
        handler.delivery < 0 ? -1 : posts[Int(deliveries[Int(handler.delivery)].post)].cause
    }

    /// For each thread that is in a handler when the recording ends: the innermost one.
    package var runningHandlers: [Int32: Span] {
        var running: [Int32: Span] = [:]
        for span in spans where span.ending == .open && !span.isWait { running[span.thread] = span }
        return running
    }

    /// The thread that should run the handlers of an observer of a Foundation center: the main thread, if it was added
    /// there to be called by the poster; otherwise -1.
    package func expectedThread(_ registration: Recording.Entry) -> Int32 {
        let isExpected =
            isMain(registration.thread) && isCalledByPoster(registration)
            && !recording.isCalledByFoundation(registration)
        return isExpected ? registration.thread : -1
    }

    /// True if an observer of a Foundation center has no operation queue, or an observer of the library no thread.
    package func isCalledByPoster(_ registration: Recording.Entry) -> Bool {
        registration.target < 0 && recording.foundationDetails(of: registration)?.queue == nil
    }

    package func isMain(_ thread: Int32) -> Bool { thread >= 0 && recording.threads[Int(thread)].identity.number == 1 }

    /// The `post` or `capture` that a record's post began with, if the record is a later one.
    package func posted(_ number: Int32) -> Int32 {
        let post = entry(number).post
        guard post >= 0 else { return -1 }
        let posted = posts[Int(post)].posted
        return posted < number ? posted : -1
    }

    /// The record since which a delivery waited in a mailbox, until its handler was called.
    package func waitBegin(_ handler: Int32) -> Int32 {
        let number = deliveryOfEntry[Int(handler)]
        guard number >= 0, case let delivery = deliveries[Int(number)], delivery.outcome == handler else { return -1 }
        // In a damaged recording, an outcome may come first.
        return delivery.append < handler ? delivery.append : -1
    }

    /// What waited in the mailbox of a thread.
    package struct Depth: Sendable {
        package fileprivate(set) var appended = 0
        package fileprivate(set) var highest = 0
        /// The record with which the highest depth is reached, or -1.
        package fileprivate(set) var highestEntry: Int32 = -1
        fileprivate var current = 0
    }

    /// For each thread: what waited in its mailbox.
    ///
    /// - Parameter includes: whether a record is counted. What is not counted when it begins to wait is not counted when
    ///   that ends.
    package func depths(includes: (Int32) -> Bool = { _ in true }) -> [Depth] {
        /// For each record: the mailbox in which something begins to wait, as its index plus one; where it ends, the
        /// same as a negative number; otherwise 0.
        var changes = [Int32](repeating: 0, count: recording.entries.count)
        for delivery in deliveries {
            let (begin, mailbox) = (delivery.append, mailbox(of: delivery))
            let end = delivery.outcome >= 0 ? delivery.outcome : delivery.skip
            guard begin >= 0, mailbox >= 0, end < 0 || end > begin, includes(begin) else { continue }
            changes[Int(begin)] = mailbox + 1
            if end >= 0, includes(end) { changes[Int(end)] = -(mailbox + 1) }
        }
        var depths = Array(repeating: Depth(), count: threads.count)
        for (number, change) in zip(Int32(0)..., changes) where change != 0 {
            let thread = Int(change.magnitude) - 1
            depths[thread].current += Int(change.signum())
            if change > 0 { depths[thread].appended += 1 }
            if depths[thread].current > depths[thread].highest {
                (depths[thread].highest, depths[thread].highestEntry) = (depths[thread].current, number)
            }
        }
        return depths
    }
}
