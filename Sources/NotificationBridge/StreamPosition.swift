/// How far a bridge has read a stream.
struct StreamPosition: Equatable, Sendable {
    /// When the stream was created, as NATS says it; it tells another stream with the same name.
    var created: String
    /// The last sequence number that was read.
    var last: UInt64
}
