/// The part of a recording to draw.
public struct TimelineSelection: Sendable, Hashable {
    /// In nanoseconds since the recording's first record.
    public var from: Int64
    public var to: Int64
    /// Only this post and its captures.
    public var post: Int?
    /// Only notifications of this name.
    public var name: String?
    /// The maximum number of rows; nil for all.
    public var limit: Int?
    /// True if similar consecutive rows are drawn as one.
    public var foldsRuns: Bool

    public init(
        from: Int64 = 0, to: Int64 = .max, post: Int? = nil, name: String? = nil, limit: Int? = nil,
        foldsRuns: Bool = true
    ) {
        self.from = from
        self.to = to
        self.post = post
        self.name = name
        self.limit = limit
        self.foldsRuns = foldsRuns
    }
}
