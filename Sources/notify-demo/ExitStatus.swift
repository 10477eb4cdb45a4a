/// How the process ends, as the help says it.
enum ExitStatus: Int32 {
    case good = 0
    /// An expectation failed, or logs differ.
    case failed = 1
    /// The question could not be answered.
    case trouble = 2
}
