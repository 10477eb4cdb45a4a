/// The part of a recording to draw.
package struct TimelineSelection: Sendable, Hashable {
    /// In nanoseconds since the recording's first record.
    package var from: Int64
    package var to: Int64
    /// Only this post and its captures.
    package var post: Int?
    /// Only notifications of this name.
    package var name: String?
    /// The maximum number of rows; nil for all.
    package var limit: Int?
    /// True if similar consecutive rows are drawn as one.
    package var foldsRuns: Bool

    package init(
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
