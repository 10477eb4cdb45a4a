/// The part of a recording that a reader shows: `--name`, `--thread`, `--post`, `--from` and `--to`.
///
/// A record is selected if it satisfies every condition that is set. Selection hides records from a report and nothing
/// else: an index is built of the whole recording, so a selected delivery keeps its post, and a handler its end.
package struct RecordingFilter: Sendable, Hashable {
    package var name: String?
    /// The name or the number of a thread on which the record was made, or which it is for.
    package var thread: String?
    /// The number of a post. Posts that Foundation's center made of it are part of it.
    package var post: Int?
    /// In nanoseconds since the recording's first record.
    package var from: Int64
    package var to: Int64

    package init(
        name: String? = nil, thread: String? = nil, post: Int? = nil, from: Int64 = 0, to: Int64 = .max
    ) {
        (self.name, self.thread, self.post, self.from, self.to) = (name, thread, post, from, to)
    }

    /// True if every record is selected.
    package var isEmpty: Bool { self == RecordingFilter() }
}
