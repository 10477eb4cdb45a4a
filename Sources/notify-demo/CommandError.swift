/// Why a command cannot do its work.
struct CommandError: Error, CustomStringConvertible {
    /// The failure, its cause, and what to do.
    var description: String
}
