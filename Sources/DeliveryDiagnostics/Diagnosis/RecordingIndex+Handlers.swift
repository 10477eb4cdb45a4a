internal import DeliveryRecording
internal import ThreadedNotifications

/// Handlers and what caused them. -1 means none.
extension RecordingIndex {
    /// The observer of a handler; -1 for a block or a wait.
    func observer(of span: Span) -> Int32 { span.isWait ? -1 : entry(span.begin).observer }

    /// The handler, in `spans`, that made the post of a handler.
    func cause(of handler: Span) -> Int32 {
        handler.delivery < 0 ? -1 : posts[Int(deliveries[Int(handler.delivery)].post)].cause
    }

    /// For each thread that is in a handler when the recording ends: the innermost one.
    var runningHandlers: [Int32: Span] {
        var running: [Int32: Span] = [:]
        for span in spans where span.ending == .open && !span.isWait { running[span.thread] = span }
        return running
    }

    func isMain(_ thread: Int32) -> Bool { thread >= 0 && recording.threads[Int(thread)].identity.number == 1 }
}
