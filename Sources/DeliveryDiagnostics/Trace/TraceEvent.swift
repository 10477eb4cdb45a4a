/// An event of the trace event format. Its names and arguments are taken from its record.
struct TraceEvent {
    enum Phase: UInt8 {
        case begin = 66  // B
        case end = 69  // E
        case instant = 105  // i
        case flowStart = 115  // s
        case flowStep = 116  // t
        case flowEnd = 102  // f
        case counter = 67  // C
    }

    var phase: Phase
    /// In nanoseconds since the recording's first record.
    var time: UInt64
    /// The track, as an index in `Recording.threads`. For a counter: its owner.
    var thread: Int32
    /// For `begin` and `instant`: the entry of the event. For a flow: the entry that identifies the flow.
    var index: Int32 = -1
    /// For `counter`: its value. For `end`: 1 if the end is not recorded.
    var value = 0
    /// True if a counter belongs to a posting queue, false if it belongs to a mailbox.
    var isOfQueue = false
}
