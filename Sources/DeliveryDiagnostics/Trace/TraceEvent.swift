/// One event of a trace, in the words of the trace event format; names and arguments are those of its record.
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
    /// The track, in `Recording.threads`. Of a counter: whose it is.
    var thread: Int32
    /// Of `begin` and `instant`: the record that it shows. Of a flow: the record whose place makes its id.
    var place: Int32 = -1
    /// Of `counter`: its value. Of `end`: 1 if the recording does not tell the end.
    var value = 0
    /// Of `counter`: whether it is of a posting queue, and not of a mailbox.
    var isOfQueue = false
}
